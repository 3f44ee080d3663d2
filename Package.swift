// swift-tools-version: 6.2
// The manifest of LectureKit. Rules: docs/architecture.md. `Tools/check-layers` holds every import against it.

import PackageDescription

/// The migrations, oldest first. Written by hand on purpose: the evaluated manifest is cached, so a list computed
/// from the directory would go stale. `Tools/check-migrations` compares it with the directory.
let migrations = [
    "0001_create_store",
    "0002_add_licences",
    "0003_add_statistics",
    "0004_add_resume_point",
    "0005_add_stream_cache",
    "0006_add_version_source",
    "0007_add_course_lists",
]

let package = Package(
    name: "LectureKit",
    products: [
        // `import LectureKit` brings the model's types; its own name stays for those who import it by that.
        .library(name: "LectureKit", targets: ["LectureKit", "LectureModel"]),
        .library(name: "KollusSDK", targets: ["KollusSDK", "KollusSDKBinary"]),
        .executable(name: "lecturectl", targets: ["lecturectl"]),
        .executable(name: "lecture-sandbox", targets: ["lecture-sandbox"]),
        .executable(name: "lecture-hostile", targets: ["lecture-hostile"]),
        .executable(name: "lecture-simulate", targets: ["lecture-simulate"]),
    ],
    targets: [
        // C libraries from Debian, one importer each.
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(
            name: "CMicroHTTPD", path: "Tools/CMicroHTTPD", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(
            name: "CGnuTLS", path: "Tools/CGnuTLS", pkgConfig: "gnutls", providers: [.apt(["libgnutls28-dev"])]),
        .systemLibrary(
            name: "CNghttp2", path: "Tools/CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "CZlib", path: "Tools/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        // GNU calls that the Glibc module does not show; C because they need _GNU_SOURCE.
        .target(name: "CSystem", cSettings: [.define("_GNU_SOURCE")]),
        // Media bytes for the sandbox; C because they must be quick in a debug build too.
        .target(name: "CSandbox", path: "Tools/CSandbox"),

        // Vocabulary and ports.
        .target(name: "LectureModel"),

        // Engines: rules without input or output.
        .target(name: "LectureDownload", dependencies: ["LectureModel"]),
        .target(name: "LectureLicence", dependencies: ["LectureModel"]),
        .target(name: "LectureStatistics", dependencies: ["LectureModel"]),

        // Adapters: one means each.
        .target(
            name: "SchemaMigrations", path: "Migrations", exclude: ["README.md", "SHA256SUMS"],
            resources: migrations.map { .embedInCode("\($0).sql") }),
        .target(name: "LectureSQLite", dependencies: ["LectureModel", "CSQLite"]),
        .target(name: "LectureStore", dependencies: ["LectureModel", "LectureSQLite", "SchemaMigrations"]),
        .target(name: "LectureFiles", dependencies: ["LectureModel", "CSystem"]),
        .target(name: "LectureTransport", dependencies: ["LectureModel", "CCurl"]),
        .target(name: "LectureCrypto", dependencies: ["LectureModel", "COpenSSL"]),
        .target(name: "LectureArchive", dependencies: ["LectureModel", "CArchive"]),

        // The product, the command.
        .target(
            name: "LectureKit",
            dependencies: [
                "LectureModel", "LectureDownload", "LectureLicence", "LectureStatistics", "LectureStore",
                "LectureFiles",
                "LectureTransport", "LectureCrypto", "LectureArchive",
            ]),
        // The façade, and the other name under which applications know it.
        .target(name: "KollusSDK", dependencies: ["LectureKit", "LectureModel"]),
        .target(name: "KollusSDKBinary", dependencies: ["KollusSDK"]),
        .target(name: "LectureCommand", dependencies: ["LectureModel", "LectureKit"]),
        .executableTarget(name: "lecturectl", dependencies: ["LectureCommand"]),
        .executableTarget(
            name: "lecture-sandbox", dependencies: ["SandboxSecurity", "CMicroHTTPD", "CSandbox", "CZlib"],
            path: "Tools/lecture-sandbox", exclude: ["Fixtures"]),
        // What the servers of the tests need of GnuTLS: digests, certificates, TLS.
        .target(name: "SandboxSecurity", dependencies: ["CGnuTLS"], path: "Tools/SandboxSecurity"),
        // The hostile origin and its cases, and the command that holds clients against them.
        .target(
            name: "HostileSuite", dependencies: ["SandboxSecurity", "LectureModel", "LectureTestSupport", "CNghttp2"],
            path: "Tests/HostileSuite"),
        .executableTarget(name: "lecture-hostile", dependencies: ["HostileSuite"], path: "Tools/lecture-hostile"),

        // Examples: in the documents word for word, so they are built with everything else.
        .executableTarget(
            name: "precache-example", dependencies: ["LectureKit", "LectureModel"], path: "Examples/precache"),
        .executableTarget(name: "kollus-guide", dependencies: ["KollusSDK"], path: "Examples/kollus-guide"),
        .executableTarget(
            name: "background-example", dependencies: ["LectureKit", "LectureModel"], path: "Examples/background"),
        // What a program of another package has: nothing but the library's own module.
        .executableTarget(name: "service-example", dependencies: ["LectureKit"], path: "Examples/service"),
        // Benchmarks: run by hand, never by the tests.
        .executableTarget(
            name: "lecture-benchmarks",
            dependencies: ["LectureKit", "LectureModel", "LectureStore", "LectureFiles", "LectureCrypto"],
            path: "Benchmarks/lecture-benchmarks"),

        // Tests.
        .target(name: "LectureTestSupport", dependencies: ["LectureModel"], path: "Tests/LectureTestSupport"),
        .target(
            name: "LectureProgramSupport", dependencies: ["LectureTestSupport"], path: "Tests/LectureProgramSupport"),
        // Readers of foreign bytes and what must hold of them; for the tests and for libFuzzer.
        .target(
            name: "LectureFuzzing",
            dependencies: [
                "LectureCommand", "LectureCrypto", "LectureDownload", "LectureFiles", "LectureKit", "LectureLicence",
                "LectureModel", "LectureStore", "LectureTransport",
            ],
            path: "Tests/LectureFuzzing"),
        // A world with virtual time, in which the real engine and the real store are told any story from its seed.
        .target(
            name: "LectureSimulation",
            dependencies: [
                "LectureDownload", "LectureStore", "LectureSQLite", "LectureCrypto", "LectureModel",
                "LectureTestSupport",
            ], path: "Tests/LectureSimulation"),
        .executableTarget(
            name: "lecture-simulate", dependencies: ["LectureSimulation", "LectureModel"],
            path: "Tools/lecture-simulate"),
        .testTarget(name: "LectureModelTests", dependencies: ["LectureModel", "LectureTestSupport"]),
        .testTarget(
            name: "LectureDownloadTests",
            dependencies: [
                "LectureDownload", "LectureStore", "LectureSQLite", "LectureCrypto", "LectureModel",
                "LectureSimulation", "LectureTestSupport",
            ],
            exclude: ["Containers"]),
        .testTarget(
            name: "LectureStatisticsTests",
            dependencies: [
                "LectureStatistics", "LectureStore", "LectureSQLite", "LectureModel", "LectureTestSupport",
            ]),
        .testTarget(
            name: "LectureLicenceTests",
            dependencies: [
                "LectureLicence", "LectureStore", "LectureSQLite", "LectureCrypto", "LectureModel",
                "LectureTestSupport",
            ]),
        .testTarget(
            name: "LectureSQLiteTests", dependencies: ["LectureSQLite", "LectureModel", "LectureTestSupport"]),
        .testTarget(
            name: "LectureStoreTests",
            dependencies: [
                "LectureStore", "LectureSQLite", "SchemaMigrations", "LectureCrypto", "LectureModel",
                "LectureTestSupport",
            ],
            exclude: ["Fixtures"]),
        .testTarget(
            name: "LectureFilesTests",
            dependencies: ["LectureFiles", "LectureCrypto", "LectureModel", "LectureTestSupport"]),
        .testTarget(
            name: "LectureTransportTests", dependencies: ["LectureTransport", "LectureModel", "LectureTestSupport"]),
        .testTarget(name: "LectureCryptoTests", dependencies: ["LectureCrypto", "LectureModel", "LectureTestSupport"]),
        .testTarget(
            name: "LectureArchiveTests", dependencies: ["LectureArchive", "LectureModel", "LectureTestSupport"]),
        .testTarget(
            name: "LectureKitTests",
            dependencies: [
                "LectureKit", "LectureArchive", "LectureCrypto", "LectureModel", "LectureDownload", "LectureSQLite",
                "LectureStatistics", "LectureTestSupport",
            ]),
        // The library as other packages have it: `import LectureKit` and nothing else of it.
        .testTarget(name: "PackageUseTests", dependencies: ["LectureKit", "LectureTestSupport"]),
        .testTarget(
            name: "LectureCommandTests",
            dependencies: [
                "LectureCommand", "LectureCrypto", "LectureKit", "LectureModel", "LectureProgramSupport",
                "LectureTestSupport",
            ],
            exclude: ["Golden"]),
        // Black boxes: the built program, real servers, real disks, and everything that goes wrong.
        .testTarget(name: "EnduranceTests", dependencies: ["LectureProgramSupport", "LectureTestSupport"]),
        .testTarget(
            name: "HostileTests", dependencies: ["HostileSuite", "LectureProgramSupport", "LectureTestSupport"]),
        // Black boxes as well: licences, and whoever would have more of them than is granted.
        .testTarget(
            name: "LicenceProgramTests",
            dependencies: ["LectureCrypto", "LectureModel", "LectureProgramSupport", "LectureTestSupport"]),
        // And reports: learning management systems with habits, kills, and a record store that others wrote.
        .testTarget(
            name: "StatisticsProgramTests",
            dependencies: ["LectureModel", "LectureProgramSupport", "LectureTestSupport"]),
        // The façade: its parts, its surface, and applications as they are written for the iOS SDK. Both targets of clients
        // have the same files, by a link: what an application developer has, in either language mode.
        .target(
            name: "KollusTestSupport", dependencies: ["KollusSDK", "LectureKit", "LectureModel", "LectureTestSupport"],
            path: "Tests/KollusTestSupport"),
        .testTarget(
            name: "KollusSDKTests",
            dependencies: [
                "KollusSDK", "KollusSDKBinary", "LectureKit", "LectureModel", "KollusTestSupport",
                "LectureTestSupport",
            ],
            exclude: ["Golden"]),
        .testTarget(
            name: "KollusClientSwift5Tests", dependencies: ["KollusSDK", "KollusSDKBinary", "KollusTestSupport"]),
        .testTarget(
            name: "KollusClientSwift6Tests", dependencies: ["KollusSDK", "KollusSDKBinary", "KollusTestSupport"]),
        // The chapters of the vendor's guide, as a program against the sandbox.
        .testTarget(name: "KollusGuideTests", dependencies: ["LectureProgramSupport", "LectureTestSupport"]),
        // The façade against real servers: starts, transfers, and whatever an application does wrong.
        .testTarget(
            name: "KollusStorageTests",
            dependencies: ["KollusSDK", "LectureKit", "LectureModel", "LectureSQLite", "LectureTestSupport"]),
        .testTarget(name: "FuzzCorpusTests", dependencies: ["LectureFuzzing", "LectureTestSupport"]),
        .testTarget(
            name: "SimulationTests",
            dependencies: ["LectureSimulation", "LectureModel", "LectureTestSupport"], exclude: ["Regressions"]),
        .testTarget(name: "SandboxTests", dependencies: ["LectureTestSupport"]),
    ]
)

// Only some of the tests, for quick turns: LECTUREKIT_TESTS="KollusStorageTests" swift test
if let names = Context.environment["LECTUREKIT_TESTS"]?.split(separator: " ").map(String.init) {
    package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}

// libFuzzer brings its own `main`, so this program links only when it is built with the sanitizer: see Tools/fuzz.
if Context.environment["LECTUREKIT_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(name: "lecture-fuzz", dependencies: ["LectureFuzzing"], path: "Tests/Fuzzing/lecture-fuzz"))
}

// One loop, so that no target can be forgotten.
for target in package.targets where target.type != .system && !["CSystem", "CSandbox"].contains(target.name) {
    // Applications: warnings are errors, and beyond that there is only what Xcode gives a new project.
    if target.name.hasPrefix("KollusClient") || target.name == "kollus-guide" {
        target.swiftSettings = [
            .swiftLanguageMode(target.name.contains("Swift6") ? .v6 : .v5), .treatAllWarnings(as: .error),
        ]
        continue
    }
    target.swiftSettings = [
        .swiftLanguageMode(.v6),
        .treatAllWarnings(as: .error),
        .strictMemorySafety(),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
