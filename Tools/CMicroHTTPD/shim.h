// Parts of libmicrohttpd that Swift's importer cannot see, each with the reason.
#ifndef CMICROHTTPD_SHIM_H
#define CMICROHTTPD_SHIM_H
#include <microhttpd.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

/// The callbacks of a daemon; `context` is passed to each.
struct cmhd_callbacks {
    void *_Nullable context;
    MHD_AccessHandlerCallback _Nonnull handler;
    void *_Nullable (*_Nonnull uri)(void *_Nullable context, const char *_Nonnull uri,
                                    struct MHD_Connection *_Nonnull connection);
    MHD_RequestCompletedCallback _Nonnull completed;
    MHD_NotifyConnectionCallback _Nonnull connection;
};

/// `MHD_start_daemon` is variadic. Starts a daemon on 127.0.0.1 with one thread per connection, so that a response may
/// block its own connection and no other. Without `certificate` it speaks http. NULL when it could not start.
static inline struct MHD_Daemon *_Nullable cmhd_start(uint16_t port, unsigned int connection_limit,
                                                      const struct cmhd_callbacks *_Nonnull calls,
                                                      const char *_Nullable certificate, const char *_Nullable key) {
    struct sockaddr_in address = {0};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    unsigned int flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL;
    struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)certificate},
                                   {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)key},
                                   {MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(certificate ? flags | MHD_USE_TLS : flags, port, NULL, NULL, calls->handler,
                            calls->context, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
                            MHD_OPTION_CONNECTION_LIMIT, connection_limit, MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024u,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)262144, MHD_OPTION_THREAD_STACK_SIZE,
                            (size_t)1048576, MHD_OPTION_URI_LOG_CALLBACK, calls->uri, calls->context,
                            MHD_OPTION_NOTIFY_COMPLETED, calls->completed, calls->context,
                            MHD_OPTION_NOTIFY_CONNECTION, calls->connection, calls->context, MHD_OPTION_ARRAY,
                            certificate ? tls : none, MHD_OPTION_END);
}

/// `MHD_get_daemon_info` is variadic. The port that the system chose; 0 when unknown.
static inline uint16_t cmhd_port(struct MHD_Daemon *_Nonnull daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

/// `MHD_get_connection_info` is variadic. What the connection callback stored; NULL when it stored nothing.
static inline void *_Nullable cmhd_socket_context(struct MHD_Connection *_Nonnull connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/// `MHD_get_connection_info` is variadic. The socket of a connection; -1 when unknown.
static inline int cmhd_socket(struct MHD_Connection *_Nonnull connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/// The cases of a closed C enumeration have no name in Swift.
static inline enum MHD_Result cmhd_result(_Bool yes) { return yes ? MHD_YES : MHD_NO; }

/// The same for the two other enumerations that are used.
static inline _Bool cmhd_started(enum MHD_ConnectionNotificationCode code) {
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}
static inline enum MHD_ValueKind cmhd_header_kind(void) { return MHD_HEADER_KIND; }

/// `MHD_CONTENT_READER_END_WITH_ERROR` and `…_OF_STREAM` are cast macros.
static inline ssize_t cmhd_reader_failed(void) { return MHD_CONTENT_READER_END_WITH_ERROR; }
static inline ssize_t cmhd_reader_ended(void) { return MHD_CONTENT_READER_END_OF_STREAM; }

/// `MHD_SIZE_UNKNOWN` is a cast macro.
static inline uint64_t cmhd_size_unknown(void) { return MHD_SIZE_UNKNOWN; }
#endif
