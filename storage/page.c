/* storage/page.c - the checksum and the address that every page carries.
 *
 * A page is sealed when a copy of it goes to disk and checked when it comes back. A page of zeros is valid: the file
 * was made longer, and nobody has written there yet. */
#include "storage/page.h"

#include <stddef.h>
#include <string.h>

#include "base/hash.h"

static uint32_t page_sum(const uint8_t *page)
{
    static const uint8_t nothing[4];
    const size_t at = offsetof(struct page_header, checksum);

    uint32_t crc = crc32c(0, page, at);
    crc = crc32c(crc, nothing, sizeof nothing);
    return crc32c(crc, page + at + 4, PAGE_BYTES - at - 4);
}

static bool page_is_zero(const uint8_t *page)
{
    return page[0] == 0 && memcmp(page, page + 1, PAGE_BYTES - 1) == 0;
}

void page_seal(void *page)
{
    page_header(page)->checksum = page_sum(page);
}

bool page_check(const void *page, page_id id)
{
    const struct page_header *header = page;
    if (header->version == 0)
        return page_is_zero(page);
    return header->version == PAGE_VERSION && header->file == id.file && header->page == id.page
        && header->checksum == page_sum(page);
}
