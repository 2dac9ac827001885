// Numbers that stay text. In: fields of a column of numbers. Out: which of them are none, and the same number as JSON writes
// it. Refuses to know where texts go.
#pragma once

#include "engine/columns/columns.hpp"
#include "engine/columns/text_check.hpp"

namespace formatter {

// Whether texts are numbers of the type that `number` names, and finite. What is plainly one is not read for that.
class NumberTexts : public TextCheck {
  public:
    NumberTexts(const ColumnSpec& number, uint8_t decimal_point) : spec_(number) {
        spelling_.decimal_point = decimal_point;
    }
    void check(const TextRows&, uint64_t* failed) const override;

  private:
    bool is_number(Bytes) const;

    ColumnSpec spec_;
    Spelling spelling_;
};

// The check of a column of text, `column`, for numbers of this type.
std::shared_ptr<TextCheck> number_texts(const ColumnSpec& column, const ColumnType* type, uint8_t precision,
                                        int8_t scale, uint8_t decimal_point);

// At most two bytes more than the text: no plus, no zeros in front, a digit on both sides of the point.
constexpr size_t number_growth = 2;
uint8_t* write_json_number(const uint8_t* text, size_t size, uint8_t* out);

}  // namespace formatter
