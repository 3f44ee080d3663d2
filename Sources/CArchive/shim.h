// What Swift's importer cannot do with libarchive: name the type of a function without linking the library, which is
// opened with the first stream. One line each; the compiler takes the types from libarchive's own declarations.
#ifndef CARCHIVE_SHIM_H
#define CARCHIVE_SHIM_H
#include <archive.h>
#include <archive_entry.h>

typedef __typeof__(&archive_write_new) carchive_write_new;
typedef __typeof__(&archive_write_add_filter_gzip) carchive_write_add_filter_gzip;
typedef __typeof__(&archive_write_add_filter_zstd) carchive_write_add_filter_zstd;
typedef __typeof__(&archive_write_set_filter_option) carchive_write_set_filter_option;
typedef __typeof__(&archive_write_set_format_raw) carchive_write_set_format_raw;
typedef __typeof__(&archive_write_set_bytes_per_block) carchive_write_set_bytes_per_block;
typedef __typeof__(&archive_write_set_bytes_in_last_block) carchive_write_set_bytes_in_last_block;
typedef __typeof__(&archive_write_open) carchive_write_open;
typedef __typeof__(&archive_write_header) carchive_write_header;
typedef __typeof__(&archive_write_data) carchive_write_data;
typedef __typeof__(&archive_write_close) carchive_write_close;
typedef __typeof__(&archive_write_fail) carchive_write_fail;
typedef __typeof__(&archive_write_free) carchive_write_free;
typedef __typeof__(&archive_entry_new) carchive_entry_new;
typedef __typeof__(&archive_entry_set_filetype) carchive_entry_set_filetype;
typedef __typeof__(&archive_entry_free) carchive_entry_free;
typedef __typeof__(&archive_read_new) carchive_read_new;
typedef __typeof__(&archive_read_support_filter_gzip) carchive_read_support_filter_gzip;
typedef __typeof__(&archive_read_support_filter_zstd) carchive_read_support_filter_zstd;
typedef __typeof__(&archive_read_support_format_raw) carchive_read_support_format_raw;
typedef __typeof__(&archive_read_support_format_empty) carchive_read_support_format_empty;
typedef __typeof__(&archive_read_open) carchive_read_open;
typedef __typeof__(&archive_read_next_header) carchive_read_next_header;
typedef __typeof__(&archive_read_data) carchive_read_data;
typedef __typeof__(&archive_read_free) carchive_read_free;
typedef __typeof__(&archive_errno) carchive_errno;
typedef __typeof__(&archive_error_string) carchive_error_string;
typedef __typeof__(&archive_filter_code) carchive_filter_code;
typedef __typeof__(&archive_write_set_format_ustar) carchive_write_set_format_ustar;
typedef __typeof__(&archive_entry_clear) carchive_entry_clear;
typedef __typeof__(&archive_entry_set_pathname) carchive_entry_set_pathname;
typedef __typeof__(&archive_entry_set_size) carchive_entry_set_size;
typedef __typeof__(&archive_entry_set_perm) carchive_entry_set_perm;
typedef __typeof__(&archive_read_support_format_tar) carchive_read_support_format_tar;
typedef __typeof__(&archive_read_open2) carchive_read_open2;
typedef __typeof__(&archive_read_header_position) carchive_read_header_position;
typedef __typeof__(&archive_entry_pathname) carchive_entry_pathname;
typedef __typeof__(&archive_entry_filetype) carchive_entry_filetype;
typedef __typeof__(&archive_entry_size) carchive_entry_size;
typedef __typeof__(&archive_entry_hardlink) carchive_entry_hardlink;
typedef __typeof__(&archive_entry_sparse_count) carchive_entry_sparse_count;
#endif
