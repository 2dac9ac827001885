// What is written in place of what is meant, found by what it begins with. In: the escapes of a declared format. Out: the longest
// one that a text begins with. Refuses to know where escapes count.
//
// There may be hundreds that begin alike, %00 to %FF: those of one first byte and one length are sorted, and searched in halves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace formatter {

struct Escape {
    std::string written, meant;
};

class EscapeTable {
  public:
    EscapeTable() : EscapeTable(std::vector<Escape>()) {}
    explicit EscapeTable(std::vector<Escape> escapes);

    // The longest escape that the text begins with; null: none.
    const Escape* at(const uint8_t* text, size_t size) const {
        for (uint32_t g = groups_of_[*text]; g < groups_of_[*text + 1]; g++)
            if (const Escape* found = find(groups_[g], text, size)) return found;
        return nullptr;
    }
    bool leads(uint8_t c) const { return groups_of_[c] != groups_of_[c + 1]; }
    bool empty() const { return escapes_.empty(); }
    std::vector<Escape>::const_iterator begin() const { return escapes_.begin(); }
    std::vector<Escape>::const_iterator end() const { return escapes_.end(); }

  private:
    struct Group {  // of one first byte and one length
        uint32_t first, last;  // among the escapes
        size_t size;
    };

    const Escape* find(const Group&, const uint8_t* text, size_t size) const;

    std::vector<Escape> escapes_;  // by first byte, longer ones first, then by bytes
    std::vector<Group> groups_;
    uint32_t groups_of_[257];
};

}  // namespace formatter
