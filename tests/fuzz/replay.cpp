// Runs the target on inputs from files, one after the other, where there is no libFuzzer. In: their paths. Out: how many.
#include <cstdint>
#include <cstdio>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size);

int main(int count, char** paths) {
    for (int i = 1; i < count; i++) {
        std::FILE* file = std::fopen(paths[i], "rb");
        if (!file) return 2;
        std::vector<uint8_t> bytes;
        for (int c; (c = std::fgetc(file)) != EOF;) bytes.push_back(uint8_t(c));
        std::fclose(file);
        std::fprintf(stderr, "%s\n", paths[i]);
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
    std::printf("%d inputs\n", count - 1);
}
