/* parser/keyword.c - looks a word up in the sorted table.
 *
 * A search by halves: nine steps at most, and most of them end at the first byte. */
#include "parser/keyword.h"

#include <string.h>

const struct keyword_info keyword_table[KEYWORD_COUNT] = {
#define UNRESERVED    CLASS_UNRESERVED
#define COLUMN_NAME   CLASS_COLUMN_NAME
#define FUNCTION_NAME CLASS_FUNCTION_NAME
#define RESERVED      CLASS_RESERVED
#define BARE          1
#define LABEL_AS      0
#define X(name, text, class, label) {text, sizeof(text) - 1, class, label},
    KEYWORDS(X)
#undef X
#undef UNRESERVED
#undef COLUMN_NAME
#undef FUNCTION_NAME
#undef RESERVED
#undef BARE
#undef LABEL_AS
};

enum keyword keyword_find(const char *word, size_t length)
{
    int low = 0, high = KEYWORD_COUNT - 1;

    if (length < 2 || length > KEYWORD_LONGEST)
        return NO_KEYWORD;
    while (low <= high) {
        int middle = (low + high) / 2;
        const struct keyword_info *info = &keyword_table[middle];
        int order = (unsigned char)word[0] - (unsigned char)info->text[0];
        if (order == 0) {
            size_t shared = length < info->length ? length : info->length;
            order = memcmp(word, info->text, shared);
            if (order == 0)
                order = (int)length - (int)info->length;
        }
        if (order == 0)
            return (enum keyword)middle;
        if (order < 0)
            high = middle - 1;
        else
            low = middle + 1;
    }
    return NO_KEYWORD;
}
