import Glibc

/// The command: a gateway and a media origin on the loopback interface, with faults on demand.
@main
enum Sandbox {
    static func main() {
        do {
            let status = try run(Array(CommandLine.arguments.dropFirst()))
            exit(status)
        } catch let problem as Problem {
            Output.error("lecture-sandbox: \(problem.text)\n")
            exit(problem.status)
        } catch {
            Output.error("lecture-sandbox: \(error)\n")
            exit(70)
        }
    }

    /// Runs one command.
    ///
    /// - Parameter arguments: the command line without the program's name; without a command word it serves.
    /// - Returns: the exit status.
    /// - Throws: ``Problem`` with the matching exit status.
    private static func run(_ arguments: [String]) throws -> Int32 {
        switch arguments.first {
        case "token": try printToken(Array(arguments.dropFirst()))
        case "certificates": try makeCertificates(Array(arguments.dropFirst()))
        case "issue": try issue(Array(arguments.dropFirst()))
        case "thumbprints": try printThumbprints(Array(arguments.dropFirst()))
        case "--help", "help": Output.data(usage)
        default: try serve(arguments.first == "serve" ? Array(arguments.dropFirst()) : arguments)
        }
        return 0
    }

    private static func serve(_ arguments: [String]) throws {
        let options = try ServeOptions(arguments)
        // Before any thread starts, so that every thread inherits the mask and only `sigwait` sees these two.
        Signals.block()
        let server = try Server(options: options)
        defer { server.stop() }
        Output.data(server.readyLine)
        if options.endsWithStandardInput { try Signals.endWithStandardInput() }
        Signals.wait()
    }

    private static func printToken(_ arguments: [String]) throws {
        let options = try TokenOptions(arguments)
        let token = options.secret.token(key: options.key, user: options.user, expiresAt: options.expiresAt)
        guard let base = options.base else { return Output.data(token + "\n") }
        Output.data("\(base)/si?jwt=\(token)&custom_key=sandbox\n")
    }

    private static func makeCertificates(_ arguments: [String]) throws {
        var words = Arguments(arguments)
        var directory: String?
        while let word = words.next() {
            switch word {
            case "--out": directory = try words.value(of: word)
            default: throw Problem.usage("unknown word '\(word)'")
            }
        }
        guard let directory else { throw Problem.usage("certificates needs --out DIR") }
        let certificates = try Certificates(madeIn: directory)
        Output.data("\(certificates.authorityFile)\n")
    }

    private static func issue(_ arguments: [String]) throws {
        let options = try IssueOptions(arguments)
        let issuer = try Issuer(in: options.directory)
        func issue(_ order: JSON) throws {
            Output.data(try issuer.issue(LicenceOrder(order, now: nowSeconds())) + "\n")
        }
        if let order = options.order { try issue(order) }
        if options.isBatch {
            while let line = readLine() { try issue(StrictJSON.value(of: Array(line.utf8))) }
        } else if options.order == nil {
            Output.data("\(options.directory)\n")
        }
    }

    private static func printThumbprints(_ arguments: [String]) throws {
        let options = try IssueOptions(arguments)
        Output.data(try Issuer(in: options.directory).thumbprints().text + "\n")
    }

    private static let usage = """
        lecture-sandbox: a lecture server for tests and demonstrations, on 127.0.0.1 only.

        lecture-sandbox [serve] [--course DIR] [--bytes SIZE-SEED[?QUERY]]... [--port N] [--https-port N] [--no-https]
                        [--root DIR] [--secret-file FILE] [--lease-seconds N] [--require-lease] [--fault FAULTS]
                        [--digests none|repr|old|both] [--connection-limit N] [--stdin-watch]
                        [--licensed] [--lms] [--extras] [--drm-key-file FILE] [--user-key KEY]
        lecture-sandbox token --key KEY --secret-file FILE [--user U] [--expires-in SECONDS] [--base URL]
        lecture-sandbox certificates --out DIR
        lecture-sandbox thumbprints --dir DIR
        lecture-sandbox issue --dir DIR [--batch]
                        [--key MCK | --app BUNDLE_ID [--app-expires-in SECONDS] | --new-key THUMBPRINT]
                        [--alg ES256|EdDSA|RS256|PS256|HS256] [--by x5c|kid|secret] [--leaf LEAF] [--spoil SPOILING]
                        [--user U] [--iss I] [--aud A] [--jti ID] [--device THUMBPRINT] [--serial N]
                        [--begins-in SECONDS] [--expires-in SECONDS] [--policy JSON] [--claims JSON] [--header JSON]

        serve        prints one line of JSON with its URLs and files, then serves until SIGTERM.
        token        prints a token of the gateway, or with --base a link.
        certificates creates an authority and a certificate for this machine.
        issue        creates an issuer of licences in DIR (roots.pem, crl.pem, jwks.json, hs.key) unless it exists, and
                     prints a licence file, an application key, or a statement about a new key; with --batch one for
                     each line of JSON that it reads.
        thumbprints  prints the names by which licences remember the issuer's keys.

        The licence server answers POST /drm/callback; POST /_drm sets its policies and habits, GET /_drm, /_drm/items,
        /_drm/contents and /_drm/rates show its requests. POST /_issue issues from the server's own directory.

        Each path below /lms, /lms/json and /xAPI is an LMS; POST /_lms sets its habits, GET /_lms, /_lms/requests and
        /_lms/summary show what it accepted.

        Every path, fault, policy, habit and leaf is described in docs/sandbox.md.

        """
}
