import Glibc
import LectureFormats
import LectureKit
import LectureModel

/// Measures how many tokens per second are verified inside the process, signature and claims, on one core.
enum VerifyBenchmark {
    /// Reads lines of `NAME KIND TOKEN` from standard input and verifies each token for a second.
    ///
    /// - Parameter directory: the trust directory, as for `licence verify --trust-dir`.
    /// - Throws: `LectureError`: `cryptography` when a token cannot be verified, `data` when one is refused.
    static func run(trustedBy directory: String) throws {
        let verifier = LicenceVerifier(trust: LicenceTrust(directory: directory))
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 3, let kind = LicenceTrust.Kind(rawValue: words[1]) else { continue }
            let context = LicenceFileContext(now: Timestamp(milliseconds: Int64(time(nil)) * 1000))
            var verdicts = 0
            let begin = StoreBenchmark.nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
            var passed = 0
            while passed < 1_000_000_000 {
                for _ in 0..<100 {
                    let verdict = try verifier.verify(token: words[2], trust: kind, context: context)
                    guard verdict.isAccepted else {
                        throw LectureError(.licenceFileRefused, cause: verdict.reasonNames.joined(separator: ", "))
                    }
                }
                verdicts += 100
                passed = StoreBenchmark.nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - begin
            }
            print(
                JSONWriter.object { writer in
                    writer.member("name", words[0])
                    writer.member("per_cpu_second", Int(Double(verdicts) * 1e9 / Double(passed)))
                })
        }
    }
}
