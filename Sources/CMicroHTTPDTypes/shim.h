// The types of libmicrohttpd's functions, without linking the library, which is opened with the first server. The
// compiler takes them from its own declarations. Functions are only for what Swift's importer cannot see.
#ifndef CMICROHTTPDTYPES_SHIM_H
#define CMICROHTTPDTYPES_SHIM_H
#include <microhttpd.h>
#include <stddef.h>
#include <stdint.h>

typedef __typeof__(&MHD_stop_daemon) cmhdt_stop_daemon;
typedef __typeof__(&MHD_suspend_connection) cmhdt_suspend_connection;
typedef __typeof__(&MHD_resume_connection) cmhdt_resume_connection;
typedef __typeof__(&MHD_get_connection_values) cmhdt_get_connection_values;
typedef __typeof__(&MHD_create_response_from_callback) cmhdt_create_response_from_callback;
typedef __typeof__(&MHD_create_response_from_buffer) cmhdt_create_response_from_buffer;
typedef __typeof__(&MHD_add_response_header) cmhdt_add_response_header;
typedef __typeof__(&MHD_queue_response) cmhdt_queue_response;
typedef __typeof__(&MHD_destroy_response) cmhdt_destroy_response;

/// A variadic function, whose type Swift cannot see.
typedef void (*cmhdt_variadic)(void);

/// The callbacks of a daemon; `context` is passed to each.
struct cmhdt_callbacks {
    void *_Nullable context;
    MHD_AccessHandlerCallback _Nonnull handler;
    MHD_RequestCompletedCallback _Nonnull completed;
    MHD_NotifyConnectionCallback _Nonnull connection;
};

/// What TLS needs, in PEM, with a NUL at the end; used while the daemon starts, and not after that.
struct cmhdt_identity {
    const char *_Nonnull certificate;
    const char *_Nonnull key;
};

/// The value of a hexadecimal digit; -1 for another character.
static inline int cmhdt_digit(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

/// Decodes `%XX` in place (RFC 3986, section 2.1). `%00` stays as it is: the library passes texts of C, which would end
/// there, so that one path could be taken for another.
static inline size_t cmhdt_unescape(void *_Nullable context, struct MHD_Connection *_Nullable connection,
                                    char *_Nonnull text) {
    (void)context;
    (void)connection;
    char *end = text;
    for (const char *next = text; *next; next++) {
        int high = *next == '%' ? cmhdt_digit(next[1]) : -1;
        int low = high < 0 ? -1 : cmhdt_digit(next[2]);
        int value = low < 0 ? 0 : high * 16 + low;
        *end++ = value ? (char)value : *next;
        if (value) next += 2;
    }
    *end = 0;
    return (size_t)(end - text);
}

/// `MHD_start_daemon` is variadic. Starts a daemon with one thread on a socket that listens, and takes the socket over.
/// With an identity it speaks TLS 1.2 and 1.3 (RFC 9325, section 3.1). NULL when it could not start.
static inline struct MHD_Daemon *_Nullable cmhdt_start(cmhdt_variadic _Nonnull start, int socket,
                                                       unsigned int connections, unsigned int timeout,
                                                       const struct cmhdt_callbacks *_Nonnull calls,
                                                       const struct cmhdt_identity *_Nullable identity) {
    unsigned int flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_ALLOW_SUSPEND_RESUME;
    struct MHD_OptionItem secure[] = {
        {MHD_OPTION_HTTPS_MEM_KEY, 0, identity ? (void *)identity->key : NULL},
        {MHD_OPTION_HTTPS_MEM_CERT, 0, identity ? (void *)identity->certificate : NULL},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL},
    };
    if (identity) flags |= MHD_USE_TLS;
    return ((__typeof__(&MHD_start_daemon))start)(
        flags, 0, NULL, NULL, calls->handler, calls->context, MHD_OPTION_LISTEN_SOCKET, socket,
        MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)32768,
        MHD_OPTION_CONNECTION_TIMEOUT, timeout, MHD_OPTION_NOTIFY_COMPLETED, calls->completed, calls->context,
        MHD_OPTION_NOTIFY_CONNECTION, calls->connection, calls->context,
        MHD_OPTION_UNESCAPE_CALLBACK, cmhdt_unescape, (void *)NULL,
        MHD_OPTION_ARRAY, identity ? secure : secure + 3, MHD_OPTION_END);
}

/// `MHD_get_connection_info` is variadic. The socket of a connection; -1 when unknown.
static inline int cmhdt_socket(cmhdt_variadic _Nonnull get_info, struct MHD_Connection *_Nonnull connection) {
    const union MHD_ConnectionInfo *info =
        ((__typeof__(&MHD_get_connection_info))get_info)(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/// `MHD_set_connection_option` is variadic. After how many seconds without traffic the connection is closed; 0 for never.
static inline void cmhdt_set_timeout(cmhdt_variadic _Nonnull set_option, struct MHD_Connection *_Nonnull connection,
                                     unsigned int seconds) {
    ((__typeof__(&MHD_set_connection_option))set_option)(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

/// The cases of closed C enumerations have no name in Swift.
static inline enum MHD_Result cmhdt_result(_Bool yes) { return yes ? MHD_YES : MHD_NO; }
static inline enum MHD_ValueKind cmhdt_header_kind(void) { return MHD_HEADER_KIND; }
static inline enum MHD_ValueKind cmhdt_query_kind(void) { return MHD_GET_ARGUMENT_KIND; }
static inline _Bool cmhdt_is_opened(enum MHD_ConnectionNotificationCode code) {
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}

/// `MHD_CONTENT_READER_END_OF_STREAM` and `MHD_SIZE_UNKNOWN` are cast macros.
static inline ssize_t cmhdt_reader_ended(void) { return MHD_CONTENT_READER_END_OF_STREAM; }
static inline uint64_t cmhdt_unknown_length(void) { return MHD_SIZE_UNKNOWN; }
static inline enum MHD_ResponseMemoryMode cmhdt_copy(void) { return MHD_RESPMEM_MUST_COPY; }

/// `MHD_CONTENT_READER_END_WITH_ERROR` is a cast macro.
static inline ssize_t cmhdt_reader_failed(void) { return MHD_CONTENT_READER_END_WITH_ERROR; }
#endif
