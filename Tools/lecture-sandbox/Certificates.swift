import Glibc

/// An authority and a certificate for this machine, created with the `openssl` command at every start.
struct Certificates {
    /// What a client must trust.
    let authorityFile: String
    /// The server's certificate, PEM.
    let certificateFile: String
    /// Its key, PEM.
    let keyFile: String

    /// Creates both.
    ///
    /// - Parameter directory: where the files go; created if missing.
    /// - Throws: ``Problem`` when `openssl` is missing or fails.
    init(madeIn directory: String) throws {
        _ = unsafe mkdir(directory, 0o700)
        authorityFile = "\(directory)/ca.pem"
        certificateFile = "\(directory)/server.pem"
        keyFile = "\(directory)/server.key"
        let configuration = "\(directory)/openssl.cnf"
        try writeFile(Array(Self.configuration.utf8), to: configuration)
        let common = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-config", configuration,
        ]
        try Self.openssl(
            common + [
                "-extensions", "authority", "-subj", "/CN=Lecture Sandbox Authority", "-keyout", "\(directory)/ca.key",
                "-out", authorityFile,
            ])
        try Self.openssl(
            common + [
                "-extensions", "server", "-subj", "/CN=localhost", "-keyout", keyFile, "-out", certificateFile,
                "-CA", authorityFile, "-CAkey", "\(directory)/ca.key",
            ])
    }

    private static let configuration = """
        [req]
        distinguished_name = name
        prompt = no
        [name]
        [authority]
        basicConstraints = critical,CA:TRUE
        keyUsage = critical,keyCertSign,cRLSign
        subjectKeyIdentifier = hash
        [server]
        basicConstraints = critical,CA:FALSE
        keyUsage = critical,digitalSignature
        extendedKeyUsage = serverAuth
        subjectAltName = DNS:localhost,IP:127.0.0.1
        subjectKeyIdentifier = hash
        authorityKeyIdentifier = keyid

        """

    /// Runs `openssl` without a shell and discards its output.
    private static func openssl(_ arguments: [String]) throws {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for descriptor: Int32 in [0, 1, 2] {
            unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        var words = unsafe (["openssl"] + arguments).map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe words.indices { unsafe free(words[index]) } }
        var child = pid_t()
        guard unsafe posix_spawnp(&child, "openssl", &actions, nil, &words, environ) == 0 else {
            throw Problem.cannotCreate("openssl is not installed; run Tools/setup, or serve with --no-https")
        }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0 && errno == EINTR {}
        guard status == 0 else { throw Problem.cannotCreate("openssl could not make a certificate") }
    }
}
