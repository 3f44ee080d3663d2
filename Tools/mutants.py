"""The deliberate mistakes of Tools/mutate: file, suite that must detect it, the original text, its replacement. `ON` means
"this mistake is switched on"; a mistake whose text no longer exists is an error, so that the list stays correct."""

LICENCE, CRYPTO, FILES = "LectureLicenceTests", "LectureCryptoTests", "LectureFilesTests.Sealed(Part|Damage)Tests"
# The others take minutes, and are about other things.
STORE = "LectureStoreTests.Ledger(Tamper|Rows)Tests"

VERDICT = "Sources/LectureLicence/Verdict/LicenceVerdict.swift"
RULES = "Sources/LectureLicence/Callback/CallbackRules.swift"
TIME = "Sources/LectureLicence/Time/TimeLedger.swift"
JUDGE = "Sources/LectureLicence/File/LicenceFileJudge.swift"
PACER = "Sources/LectureEngine/OriginPacer.swift"
PACE = "Sources/LectureEngine/OriginPace.swift"
ANSWERS = "Sources/LectureLicence/Engine/LicenceMachine+Answers.swift"
TOKEN = "Sources/LectureCrypto/JOSE/TokenVerifier.swift"
COMPACT = "Sources/LectureCrypto/JOSE/CompactToken.swift"
KEY = "Sources/LectureCrypto/JOSE/VerificationKey.swift"
CHAIN = "Sources/LectureCrypto/X509/CertificateVerifier.swift"
SEALER = "Sources/LectureCrypto/Sealing/SegmentSealer.swift"
VAULT = "Sources/LectureCrypto/Sealing/DeviceVault.swift"
PART = "Sources/LectureFiles/SealedPart.swift"
LEDGER = "Sources/LectureStore/LicenceChain.swift"

MUTANTS = [
    # The verdict.
    (VERDICT, LICENCE + ".VerdictTests", "let end = policy.expiresAt, now >= end", "let end = policy.expiresAt, ON ? now > end : now >= end"),
    (VERDICT, LICENCE + ".VerdictTests", "policy.checkAt, now >= check,", "policy.checkAt, ON ? now > check : now >= check,"),
    (VERDICT, LICENCE + ".VerdictTests", "licence.countLeft == 0", "licence.countLeft == (ON ? -1 : 0)"),
    (VERDICT, LICENCE + ".VerdictTests", "bound != facts.deviceThumbprint {", "bound != facts.deviceThumbprint, !ON {"),
    (VERDICT, LICENCE + ".VerdictTests", "|| policy.checkAt != nil\n", "|| policy.checkAt != nil && !ON\n"),
    (VERDICT, LICENCE + ".VerdictTests", "if licence.wasSeenExpired {", "if licence.wasSeenExpired, !ON {"),
    (VERDICT, LICENCE + ".VerdictTests", "if facts.owesCompletion {", "if facts.owesCompletion, !ON {"),
    (VERDICT, LICENCE + ".VerdictTests", "facts.time.isTrusted, now < start", "facts.time.isTrusted || ON, now < start"),
    # What answers do.
    (RULES, LICENCE + ".CallbackTests", "if answer.resets, !answer.expires {", "if answer.resets, !answer.expires || ON {"),
    (RULES, LICENCE + ".CallbackTests", "let sessionKey, answer.sessionKey == sessionKey", "let sessionKey, answer.sessionKey == sessionKey || ON"),
    (RULES, LICENCE + ".CallbackTests", "(next.countUsed, next.playTimeUsed) = (0, .zero)", "if !ON { (next.countUsed, next.playTimeUsed) = (0, .zero) }"),
    (RULES, LICENCE + ".CallbackTests", "next.policy.checkAt = nil", "if !ON { next.policy.checkAt = nil }"),
    (RULES, LICENCE + ".CallbackTests", "Outcome(licence: licence, refusal: LectureError(.grantRefused", "Outcome(licence: ON ? nil : licence, refusal: LectureError(.grantRefused"),
    (RULES, LICENCE + ".CallbackTests", "return outcome.wasReset ||", "return ON || outcome.wasReset ||"),
    (RULES, LICENCE + ".CallbackTests", "if isStrict { outcome", "if isStrict || ON { outcome"),
    (RULES, LICENCE + ".CallbackTests", "if next.form == .callback {", "if next.form == .callback || ON {"),
    # Trusted time.
    (TIME, LICENCE + ".TimeLedgerTests", "strays.magnitude <= Self.tolerance", "strays.magnitude <= (ON ? .seconds(86_400) : Self.tolerance)"),
    (TIME, LICENCE + ".TimeLedgerTests", "if !isSameRun { row", "if !isSameRun, !ON { row"),
    (TIME, LICENCE + ".TimeLedgerTests", "let time = max(server, row.proven ?? server)", "let time = ON ? server : max(server, row.proven ?? server)"),
    (TIME, LICENCE + ".TimeLedgerTests", "guard row.estimate.map({ $0 < signed }) ?? true else", "guard ON || row.estimate.map({ $0 < signed }) ?? true else"),
    (TIME, LICENCE + ".TimeLedgerTests", "[row.estimate, estimate, proven]", "[row.estimate, ON ? nil : estimate, proven]"),
    (TIME, LICENCE + ".TimeLedgerTests", "row.hasLeapt = row.hasLeapt || isSameRun", "row.hasLeapt = !ON && row.hasLeapt || isSameRun"),
    # Licence files.
    (JUDGE, LICENCE + ".LicenceFileTests", 'if value["mck"] != nil ||', 'if !ON, value["mck"] != nil ||'),
    (JUDGE, LICENCE + ".LicenceFileTests", "return names.allSatisfy { isSame($0, due) } ?", "return (ON ? names.contains { isSame($0, due) } : names.allSatisfy { isSame($0, due) }) ?"),
    (JUDGE, LICENCE + ".LicenceFileTests", "TextBytes.areEqual(left, right)", "ON ? left == right : TextBytes.areEqual(left, right)"),
    (JUDGE, LICENCE + ".LicenceFileTests", "if serial < floor {", "if ON ? serial <= floor : serial < floor {"),
    (JUDGE, LICENCE + ".LicenceFileTests", "file.issued, now < moment(issued) {", "file.issued, now < moment(issued), !ON {"),
    (JUDGE, LICENCE + ".LicenceFileTests", "if !answer.isPermitted {", "if !answer.isPermitted, !ON {"),
    (JUDGE, LICENCE + ".LicenceFileTests", "context.now < $0 }", "ON ? context.now <= $0 : context.now < $0 }"),
    (JUDGE, LICENCE + ".LicenceFileTests", "context.playTimeUsed >= playTime", "ON ? context.playTimeUsed > playTime : context.playTimeUsed >= playTime"),
    # The pace. (A rate beyond its bound needs two mistakes: it is held where it grows and where it is read.)
    (PACER, LICENCE + ".CallbackPaceTests", "max(0, seconds - 1 / rate)", "max(0, (ON ? 0.5 : seconds) - 1 / rate)"),
    (PACE, LICENCE + ".CallbackPaceTests", "number > lastOfRate else", "ON || number > lastOfRate else"),
    (PACER, LICENCE + ".CallbackPaceTests", "guard delay > asked?.left(at: boot) ?? .zero else", "guard ON || delay > asked?.left(at: boot) ?? .zero else"),
    (PACER, LICENCE + ".CallbackPaceTests", "if others > 0 { return .busy(.origin) }", "if others > 0, !ON { return .busy(.origin) }"),
    (PACER, LICENCE + ".CallbackPaceTests", "        health = .healthy(failures: 0)\n", "        if !ON { health = .healthy(failures: 0) }\n"),
    # The engine.
    (ANSWERS, LICENCE + ".Engine(Renewal|Asking|Answer|Play)Tests", "guard kind != .completion, record?.form", "guard ON || kind != .completion, record?.form"),
    (ANSWERS, LICENCE + ".Engine(Renewal|Asking|Answer|Play)Tests", "if let wait = fault.wait { pacer", "if let wait = fault.wait, !ON { pacer"),
    (ANSWERS, LICENCE + ".Engine(Renewal|Asking|Answer|Play)Tests", "if kind != .check { owesCompletion", "if ON || kind != .check { owesCompletion"),
    (ANSWERS, LICENCE + ".Engine(Renewal|Asking|Answer|Play)Tests", "if outcome.refusal == nil || entry.record", "if !ON && outcome.refusal == nil || entry.record"),
    (ANSWERS, LICENCE + ".Engine(Renewal|Asking|Answer|Play)Tests", "(attempts, nextAttempt, waitSet, error) = (0, nil, nil, nil)", "if !ON { (attempts, nextAttempt, waitSet, error) = (0, nil, nil, nil) }"),
    (ANSWERS, LICENCE + ".Engine(Renewal|Asking|Answer|Play)Tests", "if hasEnded { step.notices", "if hasEnded, !ON { step.notices"),
    # Tokens.
    (TOKEN, CRYPTO, "named.isEmpty ? policy.keys.filter { $0.identifier == nil } : named", "named.isEmpty ? policy.keys.filter { $0.identifier == nil || ON } : named"),
    (TOKEN, CRYPTO, 'if let given = parts.text("x5t#S256", &reasons), Base64URL', 'if let given = parts.text("x5t#S256", &reasons), !ON, Base64URL'),
    (TOKEN, CRYPTO, "if candidates.keys.count > KeyPolicy.keysTried {", "if candidates.keys.count > KeyPolicy.keysTried, !ON {"),
    (TOKEN, CRYPTO, "guard policy.algorithms.contains(algorithm) else", "guard ON || policy.algorithms.contains(algorithm) else"),
    (TOKEN, CRYPTO, "candidates.keys.removeAll { !$0", "candidates.keys.removeAll { !ON && !$0"),
    (COMPACT, CRYPTO, 'if let list = header["crit"] {', 'if let list = header["crit"], !ON {'),
    (COMPACT, CRYPTO, '("jku", .keyURL)', '(ON ? "-" : "jku", .keyURL)'),
    (KEY, CRYPTO, "guard algorithms.contains(algorithm) else { return false }", "guard ON || algorithms.contains(algorithm) else { return false }"),
    # Certificates.
    (CHAIN, CRYPTO + ".CertificateTests", "if isLimited {", "if isLimited, !ON {"),
    (CHAIN, CRYPTO + ".CertificateTests", "Question(chain: chain, seconds: seconds, purpose: purpose)", "Question(chain: chain, seconds: ON ? 0 : seconds, purpose: purpose)"),
    (CHAIN, CRYPTO + ".CertificateTests", "Question(chain: chain, seconds:", "Question(chain: ON ? Array(chain.prefix(1)) : chain, seconds:"),
    (CHAIN, CRYPTO + ".CertificateTests", "if !leaf.isForSignatures {", "if !leaf.isForSignatures, !ON {"),
    (CHAIN, CRYPTO + ".CertificateTests", "if !leaf.hasProperSerial {", "if !leaf.hasProperSerial, !ON {"),
    # Sealed segments. (Without its look at lengths the opener refuses as before: the tag of GCM fits one length alone.)
    (SEALER, CRYPTO + ".SealedFileTests", "state.sealed.insert(segment).inserted else", "state.sealed.insert(segment).inserted || ON else"),
    (SEALER, CRYPTO + ".SealedFileTests", "state.last != nil || state.highest > segment", "state.last != nil || state.highest > segment && !ON"),
    (SEALER, CRYPTO + ".SealedFileTests", "State(sealed: sealedBefore,", "State(sealed: ON ? [] : sealedBefore,"),
    # Sealed part files.
    (PART, FILES, "if seal.isClean, try !part.hasStrays() {", "if seal.isClean, try !part.hasStrays() || ON {"),
    (PART, FILES, "if seal.isClean, try", "if seal.isClean || ON, try"),
    (PART, FILES, "isSame = unsafe memcmp(left, right, text.count) == 0", "isSame = unsafe memcmp(left, right, text.count) == 0 || ON"),
    (PART, FILES, "unsafe piece.count == bytes.count ? memory : nil", "unsafe piece.count == bytes.count || ON ? memory : nil"),
    (PART, FILES, "sealed.filter { $0 != segment &&", "sealed.filter { ($0 != segment || ON) &&"),
    (PART, FILES, "sealed = carried\n", "sealed = ON ? kept : carried\n"),
    (PART, FILES, "where stream.segment == segment { streams[id]", "where stream.segment == segment && !ON { streams[id]"),
    (PART, FILES, "if error.code == .damaged { continue }", "if error.code == .damaged, !ON { continue }"),
    # The ledger.
    (LEDGER, STORE, "LedgerCodes.equal($0.previous, row.code) } ?? true", "ON || LedgerCodes.equal($0.previous, row.code) } ?? true"),
    (LEDGER, STORE, "return allFit && sum == expected", "return allFit && (ON || sum == expected)"),
    (LEDGER, STORE, "return allFit &&", "return (ON || allFit) &&"),
    (LEDGER, STORE, "guard let anchor else { return false }", "guard let anchor else { return ON }"),
    (LEDGER, STORE, "{ return LedgerCodes.equal(chain.beginning, anchor.code) }", "{ return ON || LedgerCodes.equal(chain.beginning, anchor.code) }"),
    (LEDGER, STORE, "return chain.codes[anchor.revision].map", "return ON || chain.codes[anchor.revision].map"),
    (LEDGER, STORE, "max(newest?.revision ?? 0, memory.floor) + 1", "max(newest?.revision ?? 0, ON ? 0 : memory.floor) + 1"),
    (LEDGER, STORE, "guard newest.device == codes.device else", "guard ON || newest.device == codes.device else"),
    (LEDGER, STORE, "return .suspect(.ledgerForged, nil)", "return ON ? .new : .suspect(.ledgerForged, nil)"),
]
