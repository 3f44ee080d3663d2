extension CommandTable {
    /// Options that name files with credentials, so that no secret appears on the command line.
    static let credentialOptions: [OptionSpec] = [
        .value(
            "credentials-file", nil, "FILE", .file,
            help:
                "Request headers by server, as JSON: {\"https://host\": {\"headers\": {…}}}. Each server gets its own.",
            environment: "LECTURE_CREDENTIALS_FILE"),
        .flag("netrc", help: "Read users and passwords of servers from ~/.netrc.", conflicts: ["netrc-file"]),
        .value(
            "netrc-file", nil, "FILE", .file, help: "Read users and passwords of servers from this file.",
            environment: "LECTURE_NETRC_FILE", conflicts: ["netrc"]),
        .value(
            "client-cert", nil, "FILE", .file, help: "The certificate (PEM) for servers that ask for one.",
            environment: "LECTURE_CLIENT_CERT"),
        .value(
            "client-key", nil, "FILE", .file,
            help: "The key (PEM) of --client-cert; without it the certificate's file holds the key.",
            environment: "LECTURE_CLIENT_KEY"),
    ]
}
