// The seeds of a target, one after the other, where no fuzzer is at hand. In: files; FUZZ_TARGET names the target. Out: an abort at the
// first that finds something. Refuses to know what a target compares.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size);

int main(int count, char** paths) {
    for (int i = 1; i < count; i++) {
        std::ifstream file(paths[i], std::ios::binary);
        const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
        std::printf("%s\n", paths[i]);
        std::fflush(stdout);
        LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    }
    return 0;
}
