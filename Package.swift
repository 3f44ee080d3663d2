// swift-tools-version: 6.2
// The manifest of LectureKit. Rules: docs/architecture.md. `Tools/check-layers` checks every import against it.

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
    "0008_add_output_files",
    "0009_add_granting_keys",
    "0010_add_chunk_pieces",
    "0011_bind_content_keys",
    "0012_index_granting_keys",
    "0013_index_errors",
    "0014_add_play_sessions",
    "0015_add_bookmarks",
    "0016_add_adaptive",
    "0017_add_retention",
    "0018_add_webhooks",
    "0019_add_viewer_resume_point",
]

let package = Package(
    name: "LectureKit",
    products: [
        // `import LectureKit` includes the model's types; the model's own name can still be imported.
        .library(name: "LectureKit", targets: ["LectureKit", "LectureModel"]),
        .library(name: "LecturePlayer", targets: ["LecturePlayer"]),
        .library(name: "LectureLoopback", targets: ["LectureLoopback"]),
        .library(name: "LectureDoctor", targets: ["LectureDoctor"]),
        .library(name: "LectureUpkeep", targets: ["LectureUpkeep"]),
        .library(name: "LectureBundle", targets: ["LectureBundle"]),
        .library(name: "LectureServe", targets: ["LectureServe"]),
        // Binaries with this product contain FFmpeg's libraries, which Debian builds under the GPL: docs/live-media.md.
        .library(name: "LectureLiveMedia", targets: ["LectureLiveMedia"]),
        .library(name: "KollusSDK", targets: ["KollusSDK", "KollusSDKBinary"]),
        .library(name: "FlipFlopLiteSDK", targets: ["FlipFlopLiteSDK"]),
        .library(name: "LectureLiveOffline", targets: ["LectureLiveOffline"]),
        // Encoder and player for it: a binary with FFmpeg's libraries.
        .library(name: "FlipFlopLiteMedia", targets: ["FlipFlopLiteMedia"]),
        .executable(name: "lecturectl", targets: ["lecturectl"]),
        .library(name: "LectureLiveServer", targets: ["LectureLiveServer"]),
        .executable(name: "lecture-live-server", targets: ["lecture-live-server"]),
        // With the media of live lectures: a binary with FFmpeg's libraries.
        .executable(name: "lecture-live", targets: ["lecture-live"]),
        .executable(name: "lecture-sandbox", targets: ["lecture-sandbox"]),
        .executable(name: "lecture-hostile", targets: ["lecture-hostile"]),
        .executable(name: "lecture-simulate", targets: ["lecture-simulate"]),
    ],
    targets: [
        // C libraries from Debian, one importer each.
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        // Declarations only, of this one, CArchive, CXML2, CMpv and CMicroHTTPDTypes: their importers open the
        // libraries at first use.
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CArchive", providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(name: "CXML2"),
        .systemLibrary(name: "CMpv", providers: [.apt(["libmpv-dev"])]),
        .systemLibrary(name: "CMicroHTTPDTypes", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(
            name: "CMicroHTTPD", path: "Tools/CMicroHTTPD", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(
            name: "CGnuTLS", path: "Tools/CGnuTLS", pkgConfig: "gnutls", providers: [.apt(["libgnutls28-dev"])]),
        .systemLibrary(
            name: "CNghttp2", path: "Tools/CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "CZlib", path: "Tools/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        // FFmpeg: only for live media. CLectureMedia names the libraries that it is linked with.
        .systemLibrary(
            name: "CLibAV", pkgConfig: "libavformat",
            providers: [
                .apt([
                    "libavformat-dev", "libavcodec-dev", "libavfilter-dev", "libavdevice-dev", "libswscale-dev",
                    "libswresample-dev",
                ])
            ]),
        // Broadcast, packager, joiner and frame reader; C because every call and struct of FFmpeg is in it.
        .target(
            name: "CLectureMedia", dependencies: ["CLibAV"], cSettings: [.define("_GNU_SOURCE")],
            linkerSettings: [
                "avdevice", "avfilter", "avformat", "avcodec", "swresample", "swscale", "avutil", "m",
            ].map { .linkedLibrary($0) }),
        // GNU calls that the Glibc module hides; C because they need _GNU_SOURCE.
        .target(name: "CSystem", cSettings: [.define("_GNU_SOURCE")]),
        // Copies past the processor's caches; C because Swift has no such stores.
        .target(name: "CMemory"),
        // Media bytes for the sandbox; C because they must be fast in a debug build too.
        .target(name: "CSandbox", path: "Tools/CSandbox"),

        // Text formats, then vocabulary and ports.
        .target(name: "LectureFormats"),
        .target(name: "LectureModel", dependencies: ["LectureFormats", "CMemory"]),

        // Engines: rules without input or output, and the loop that runs them.
        .target(name: "LectureEngine", dependencies: ["LectureFormats", "LectureModel"]),
        .target(
            name: "LectureDownload",
            dependencies: ["LectureAdaptive", "LectureEngine", "LectureFormats", "LectureModel"]),
        .target(name: "LectureLicence", dependencies: ["LectureEngine", "LectureFormats", "LectureModel"]),
        .target(name: "LectureStatistics", dependencies: ["LectureEngine", "LectureFormats", "LectureModel"]),
        // Events for the servers of an operator: what is sent, and what an answer means.
        .target(name: "LectureWebhooks", dependencies: ["LectureEngine", "LectureFormats", "LectureModel"]),
        // Live lectures: rooms, messages, and what a broadcaster, a viewer and the server decide.
        .target(name: "LectureLive", dependencies: ["LectureFormats", "LectureModel"]),
        // Playlists and manifests: read, written, chosen from.
        .target(name: "LectureAdaptive", dependencies: ["LectureFormats", "LectureModel"]),

        // Adapters: one technology each.
        .target(
            name: "SchemaMigrations", path: "Migrations", exclude: ["README.md", "SHA256SUMS"],
            resources: migrations.map { .embedInCode("\($0).sql") }),
        .target(name: "LectureSQLite", dependencies: ["LectureModel", "CSQLite"]),
        .target(
            name: "LectureStore", dependencies: ["LectureFormats", "LectureModel", "LectureSQLite", "SchemaMigrations"]),
        .target(name: "LectureFiles", dependencies: ["LectureFormats", "LectureModel", "CSystem"]),
        .target(name: "LectureTransport", dependencies: ["LectureFormats", "LectureModel", "CCurl"]),
        .target(name: "LectureCrypto", dependencies: ["LectureFormats", "LectureModel", "COpenSSL"]),
        .target(name: "LectureArchive", dependencies: ["LectureModel", "CArchive"]),
        .target(name: "LectureXML", dependencies: ["LectureFormats", "LectureModel", "CXML2"]),
        .target(name: "LectureHTTP", dependencies: ["LectureFormats", "LectureModel", "CMicroHTTPDTypes"]),

        // The media of live lectures: linked by live products only.
        .target(name: "LectureLiveMedia", dependencies: ["LectureFormats", "LectureModel", "CLectureMedia"]),

        // The product, the command.
        .target(
            name: "LectureKit",
            dependencies: [
                "LectureFormats", "LectureModel", "LectureEngine", "LectureAdaptive", "LectureDownload",
                "LectureLicence", "LectureStatistics", "LectureWebhooks",
                "LectureStore", "LectureFiles", "LectureTransport", "LectureCrypto", "LectureArchive", "LectureXML",
            ]),
        // What is wrong with an installation.
        .target(name: "LectureDoctor", dependencies: ["LectureFormats", "LectureKit", "LectureModel"]),
        // Players, above the product's public interface.
        .target(name: "LecturePlayer", dependencies: ["LectureKit", "LectureLoopback", "CMpv"]),
        .target(
            name: "LectureLoopback",
            dependencies: ["LectureHTTP", "LectureModel", "LectureKit", "LectureServedMedia"]),
        // The bytes of a play on their way to an HTTP server.
        .target(
            name: "LectureServedMedia",
            dependencies: ["LectureFormats", "LectureHTTP", "LectureModel", "LectureKit"]),
        // The control plane of live lectures, and the program.
        .target(
            name: "LectureLiveServer",
            dependencies: [
                "LectureFormats", "LectureModel", "LectureLive", "LectureFiles", "LectureSQLite", "LectureCrypto",
                "LectureHTTP",
            ],
            resources: [
                .embedInCode("Schema/0001_create_live_store.sql"), .embedInCode("Schema/0002_add_archives.sql"),
            ]),
        // With the process that joins recordings: FFmpeg is linked with the program, and never runs in the server.
        .executableTarget(
            name: "lecture-live-server",
            dependencies: [
                "LectureLiveServer", "LectureLiveMedia", "LectureFiles", "LectureCrypto", "LectureModel",
            ]),
        // The member API of live lectures, above the transport; and the façade for applications of FlipFlop Lite.
        .target(
            name: "LectureLiveClient", dependencies: ["LectureFormats", "LectureModel", "LectureLive"]),
        .target(
            name: "FlipFlopLiteSDK",
            dependencies: [
                "LectureFormats", "LectureModel", "LectureLive", "LectureLiveClient", "LectureTransport",
                "LectureFiles",
            ]),
        // What is kept of live lectures, and what is reported of them: above both halves.
        .target(
            name: "LectureLiveOffline",
            dependencies: ["LectureFormats", "LectureKit", "LectureLive", "LectureModel"]),
        .target(
            name: "FlipFlopLiteMedia",
            dependencies: [
                "FlipFlopLiteSDK", "LectureLiveMedia", "LecturePlayer", "LectureLive", "LectureModel",
            ]),
        // What a long-running program decides, above the product's interface.
        .target(name: "LectureDaemon", dependencies: ["LectureFormats", "LectureKit", "LectureModel"]),
        // Rules of retention, and forecasts of downloads: values, and what applies them through the public interface.
        .target(name: "LectureUpkeep", dependencies: ["LectureFormats", "LectureModel", "LectureKit"]),
        // Lectures in archives that are carried by hand: the format as values, and what reads and writes it.
        .target(
            name: "LectureBundle",
            dependencies: [
                "LectureFormats", "LectureModel", "LectureKit", "LectureArchive", "LectureCrypto", "LectureFiles",
            ]),
        // The lines of `--json` about what is in a store: the command's, and the server's.
        .target(name: "LectureRecords", dependencies: ["LectureFormats", "LectureModel", "LectureKit"]),
        // A store on the network: its page, its lectures in classrooms, other branch servers, and a JSON API.
        .target(
            name: "LectureServe",
            dependencies: [
                "LectureFormats", "LectureModel", "LectureKit", "LectureHTTP", "LectureCrypto", "LectureFiles",
                "LectureServedMedia", "LectureBundle", "LectureRecords",
            ],
            resources: [
                .embedInCode("Files/page.js"), .embedInCode("Files/style.css"), .embedInCode("Files/watch.js"),
                .embedInCode("Files/schemas.json"),
            ]),
        // The façade, and its other module name for applications.
        .target(
            name: "KollusSDK", dependencies: ["LectureKit", "LectureModel", "LecturePlayer", "LectureLoopback"]),
        .target(name: "KollusSDKBinary", dependencies: ["KollusSDK"]),
        .target(
            name: "LectureCommand",
            dependencies: [
                "LectureFormats", "LectureModel", "LectureKit", "LectureDaemon", "LectureDoctor", "LecturePlayer",
                "LectureLoopback", "LectureUpkeep", "LectureBundle", "LectureRecords", "LectureServe",
            ]),
        .executableTarget(name: "lecturectl", dependencies: ["LectureCommand"]),
        // The command of live lectures, above the façade and its ports; the program brings the media.
        .target(
            name: "LectureLiveCommand",
            dependencies: [
                "LectureFormats", "LectureModel", "LectureLive", "LectureLiveClient", "LectureTransport",
                "LectureFiles", "LectureCommand", "LectureLiveMedia", "FlipFlopLiteSDK", "FlipFlopLiteMedia",
                "LectureKit", "LectureLiveOffline",
            ]),
        .executableTarget(name: "lecture-live", dependencies: ["LectureLiveCommand", "LectureCommand"]),
        .executableTarget(
            name: "lecture-sandbox", dependencies: ["SandboxSecurity", "CMicroHTTPD", "CSandbox", "CZlib"],
            path: "Tools/lecture-sandbox", exclude: ["Fixtures"]),
        // GnuTLS for the servers of the tests: digests, certificates, TLS.
        .target(name: "SandboxSecurity", dependencies: ["CGnuTLS"], path: "Tools/SandboxSecurity"),
        // The hostile origin and its cases, and the command that runs clients against them.
        .target(
            name: "HostileSuite", dependencies: ["SandboxSecurity", "LectureModel", "LectureTestSupport", "CNghttp2"],
            path: "Tests/HostileSuite"),
        .executableTarget(name: "lecture-hostile", dependencies: ["HostileSuite"], path: "Tools/lecture-hostile"),

        // Examples: quoted verbatim in the documents, so they are built with everything else.
        .executableTarget(
            name: "precache-example", dependencies: ["LectureKit", "LectureModel"], path: "Examples/precache"),
        .executableTarget(name: "kollus-guide", dependencies: ["KollusSDK"], path: "Examples/kollus-guide"),
        .executableTarget(
            name: "background-example", dependencies: ["LectureKit", "LectureModel"], path: "Examples/background"),
        // As in another package: it imports only the library's own module.
        .executableTarget(name: "service-example", dependencies: ["LectureKit"], path: "Examples/service"),
        // Benchmarks: run by hand, never by the tests.
        .executableTarget(
            name: "lecture-benchmarks",
            dependencies: [
                "LectureKit", "LectureFormats", "LectureModel", "LectureStore", "LectureFiles", "LectureCrypto",
                "LectureAdaptive", "LectureServe",
            ],
            path: "Benchmarks/lecture-benchmarks"),

        // Tests.
        .target(name: "LectureTestSupport", dependencies: ["LectureModel"], path: "Tests/LectureTestSupport"),
        .target(
            name: "LectureProgramSupport", dependencies: ["LectureTestSupport"], path: "Tests/LectureProgramSupport"),
        // Readers of untrusted bytes and their invariants; for the tests and for libFuzzer.
        .target(
            name: "LectureFuzzing",
            dependencies: [
                "LectureAdaptive", "LectureArchive", "LectureBundle",
                "LectureCommand", "LectureCrypto", "LectureDownload", "LectureFiles", "LectureKit",
                "LectureLicence", "LectureFormats", "LectureModel", "LectureRecords", "LectureStore",
                "LectureTransport", "LectureXML",
            ],
            path: "Tests/LectureFuzzing"),
        // A world with virtual time, in which the real engine and the real store run scenarios generated from a seed.
        .target(
            name: "LectureSimulation",
            dependencies: [
                "LectureDownload", "LectureLicence", "LectureStatistics", "LectureEngine", "LectureStore",
                "LectureSQLite", "LectureCrypto", "LectureFormats", "LectureModel", "LectureXML", "LectureTestSupport",
            ], path: "Tests/LectureSimulation"),
        .executableTarget(
            name: "lecture-simulate", dependencies: ["LectureSimulation", "LectureModel"],
            path: "Tools/lecture-simulate"),
        .testTarget(
            name: "LectureLiveTests",
            dependencies: ["LectureLive", "LectureFormats", "LectureModel", "LectureTestSupport"]),
        .testTarget(
            name: "LectureLiveClientTests",
            dependencies: [
                "LectureLiveClient", "LectureTransport", "LectureLive", "LectureFormats", "LectureModel",
                "LectureFiles",
                "LiveTestSupport", "LectureTestSupport",
            ]),
        // The façade, and an application as in the vendor's tutorial, in either language mode.
        .target(
            name: "LiveTestSupport",
            dependencies: ["FlipFlopLiteSDK", "LectureLive", "LectureFormats", "LectureModel", "LectureTestSupport"],
            path: "Tests/LiveTestSupport"),
        .testTarget(
            name: "FlipFlopLiteSDKTests",
            dependencies: [
                "FlipFlopLiteSDK", "LectureLive", "LectureLiveClient", "LectureFiles", "LectureModel",
                "LiveTestSupport", "LectureTestSupport",
            ]),
        .testTarget(
            name: "FlipFlopClientSwift5Tests", dependencies: ["FlipFlopLiteSDK", "LiveTestSupport"]),
        .testTarget(
            name: "FlipFlopClientSwift6Tests", dependencies: ["FlipFlopLiteSDK", "LiveTestSupport"]),
        .testTarget(
            name: "LectureLiveOfflineTests",
            dependencies: [
                "LectureLiveOffline", "LectureFormats", "LectureKit", "LectureLive", "LectureModel",
                "LectureTestSupport",
            ]),
        .testTarget(name: "LectureFormatsTests", dependencies: ["LectureFormats", "LectureTestSupport"]),
        .testTarget(name: "LectureModelTests", dependencies: ["LectureFormats", "LectureModel", "LectureTestSupport"]),
        .testTarget(
            name: "LectureDownloadTests",
            dependencies: [
                "LectureDownload", "LectureAdaptive", "LectureEngine", "LectureStore", "LectureSQLite", "LectureCrypto",
                "LectureFormats", "LectureModel", "LectureSimulation", "LectureTestSupport",
            ],
            exclude: ["Containers"]),
        .testTarget(
            name: "LectureEngineTests",
            dependencies: ["LectureEngine", "LectureFormats", "LectureModel", "LectureTestSupport"]),
        .testTarget(
            name: "LectureStatisticsTests",
            dependencies: [
                "LectureEngine", "LectureStatistics", "LectureStore", "LectureSQLite", "LectureFormats", "LectureModel",
                "LectureTestSupport",
            ]),
        .testTarget(
            name: "LectureWebhooksTests",
            dependencies: [
                "LectureEngine", "LectureWebhooks", "LectureStore", "LectureSQLite", "LectureCrypto", "LectureFormats",
                "LectureModel", "LectureTestSupport",
            ]),
        .testTarget(
            name: "LectureAdaptiveTests",
            dependencies: ["LectureAdaptive", "LectureFormats", "LectureModel", "LectureXML", "LectureTestSupport"]),
        .testTarget(
            name: "LectureLicenceTests",
            dependencies: [
                "LectureEngine", "LectureLicence", "LectureStore", "LectureSQLite", "LectureCrypto", "LectureFormats",
                "LectureModel",
                "LectureSimulation", "LectureTestSupport",
            ]),
        .testTarget(
            name: "LectureSQLiteTests", dependencies: ["LectureSQLite", "LectureModel", "LectureTestSupport"]),
        .testTarget(
            name: "LectureStoreTests",
            dependencies: [
                "LectureStore", "LectureSQLite", "SchemaMigrations", "LectureCrypto", "LectureFormats", "LectureModel",
                "LectureTestSupport",
            ],
            exclude: ["Fixtures"]),
        .testTarget(
            name: "LectureFilesTests",
            dependencies: ["LectureFiles", "LectureCrypto", "LectureFormats", "LectureModel", "LectureTestSupport"]),
        .testTarget(
            name: "LectureTransportTests",
            dependencies: ["LectureTransport", "LectureFormats", "LectureModel", "LectureTestSupport"]),
        .testTarget(
            name: "LectureCryptoTests",
            dependencies: ["LectureCrypto", "LectureFormats", "LectureModel", "LectureTestSupport"]),
        .testTarget(
            name: "LectureArchiveTests", dependencies: ["LectureArchive", "LectureModel", "LectureTestSupport"]),
        .testTarget(name: "LectureXMLTests", dependencies: ["LectureXML", "LectureFormats", "LectureTestSupport"]),
        .testTarget(
            name: "LectureKitTests",
            dependencies: [
                "LectureKit", "LectureArchive", "LectureCrypto", "LectureFormats", "LectureModel", "LectureDownload",
                "LectureEngine", "LectureSQLite",
                "LectureStatistics", "LectureWebhooks", "LectureTestSupport",
            ]),
        // The library as other packages use it: only `import LectureKit`.
        .testTarget(name: "PackageUseTests", dependencies: ["LectureKit", "LectureTestSupport"]),
        .testTarget(
            name: "LectureDaemonTests", dependencies: ["LectureDaemon", "LectureModel", "LectureTestSupport"]),
        .testTarget(
            name: "LectureCommandTests",
            dependencies: [
                "LectureBundle",
                "LectureCommand", "LectureCrypto", "LectureDaemon", "LectureDoctor", "LectureKit", "LectureFormats",
                "LectureModel", "LecturePlayer", "LectureProgramSupport", "LectureRecords", "LectureTestSupport",
                "LectureUpkeep",
            ],
            exclude: ["Golden"]),
        // Black-box tests: the built program, real servers, real disks, and failures of all kinds.
        .testTarget(name: "EnduranceTests", dependencies: ["LectureProgramSupport", "LectureTestSupport"]),
        .testTarget(
            name: "HostileTests",
            dependencies: ["HostileSuite", "LectureModel", "LectureProgramSupport", "LectureTestSupport"]),
        // Black-box tests of licences, and of attempts to get more than is granted.
        .testTarget(
            name: "LicenceProgramTests",
            dependencies: [
                "LectureCrypto", "LectureFormats", "LectureModel", "LectureProgramSupport", "LectureTestSupport",
            ]),
        // Black-box tests of reports: misbehaving learning management systems, kills, and a third-party record store.
        .testTarget(
            name: "StatisticsProgramTests",
            dependencies: ["LectureModel", "LectureProgramSupport", "LectureTestSupport"]),
        // Black-box tests of webhooks: a receiver in Python with bad habits, and kills.
        .testTarget(
            name: "WebhookProgramTests",
            dependencies: ["LectureModel", "LectureProgramSupport", "LectureTestSupport"]),
        // The façade: its parts, its interface, and applications as written for the iOS SDK. Both client targets share
        // their files by a link: the code of an application developer, in either language mode.
        .target(
            name: "KollusTestSupport", dependencies: ["KollusSDK", "LectureKit", "LectureModel", "LectureTestSupport"],
            path: "Tests/KollusTestSupport"),
        .testTarget(
            name: "KollusSDKTests",
            dependencies: [
                "KollusSDK", "KollusSDKBinary", "LectureKit", "LectureModel", "LecturePlayer", "KollusTestSupport",
                "LectureTestSupport",
            ],
            exclude: ["Golden"]),
        .testTarget(
            name: "KollusClientSwift5Tests", dependencies: ["KollusSDK", "KollusSDKBinary", "KollusTestSupport"]),
        .testTarget(
            name: "KollusClientSwift6Tests", dependencies: ["KollusSDK", "KollusSDKBinary", "KollusTestSupport"]),
        // The chapters of the vendor's guide, as a program against the sandbox.
        .testTarget(name: "KollusGuideTests", dependencies: ["LectureProgramSupport", "LectureTestSupport"]),
        // The façade against real servers: starts, transfers, and misuse by applications.
        .testTarget(
            name: "KollusStorageTests",
            dependencies: [
                "KollusSDK", "LectureKit", "LectureModel", "LectureSQLite", "LectureStore", "LectureTestSupport",
            ]),
        // Players: the rules as values, and the built program with libmpv.
        .testTarget(
            name: "LecturePlayerTests",
            dependencies: ["LecturePlayer", "LectureKit", "LectureProgramSupport", "LectureTestSupport"]),
        // What is wrong with an installation: the findings as values, and real servers and stores.
        .testTarget(
            name: "LectureDoctorTests",
            dependencies: [
                "LectureDoctor", "LectureCommand", "LectureKit", "LectureModel", "LectureProgramSupport",
                "LectureTestSupport",
            ]),
        // Retention and forecasts: the rules as values, and a store.
        .testTarget(
            name: "LectureUpkeepTests",
            dependencies: [
                "LectureUpkeep", "LectureKit", "LectureDownload", "LectureFormats", "LectureModel",
                "LectureProgramSupport", "LectureTestSupport",
            ]),
        // Bundles: the format as values, hostile archives, and the built program.
        .testTarget(
            name: "LectureBundleTests",
            dependencies: [
                "LectureBundle", "LectureArchive", "LectureCrypto", "LectureFormats", "LectureKit",
                "LectureModel", "LectureProgramSupport", "LectureTestSupport",
            ],
            exclude: ["open_bundle.py"]),
        // The server of a store: its rules as values, real clients, and the built program.
        .testTarget(
            name: "LectureServeTests",
            dependencies: [
                "LectureServe", "LectureHTTP", "LectureKit", "LectureCrypto", "LectureFiles", "LectureFormats",
                "LectureModel", "LectureProgramSupport", "LectureTestSupport",
            ]),
        // Stores that fetch from each other: the rules as values, hostile servers, and the built program.
        .testTarget(
            name: "PeerTests",
            dependencies: [
                "LectureBundle", "LectureServe", "LectureHTTP", "LectureKit", "LectureCrypto", "LectureFiles",
                "LectureFormats", "LectureModel", "LectureProgramSupport", "LectureTestSupport",
            ]),
        // The page of that server: its parts as values, and in a browser.
        .testTarget(
            name: "ServePageTests",
            dependencies: [
                "LectureServe", "LectureHTTP", "LectureKit", "LectureCrypto", "LectureFiles", "LectureFormats",
                "LectureModel", "LectureStore", "LectureProgramSupport", "LectureTestSupport",
            ]),
        // The loopback server: its rules as values, and real clients.
        .testTarget(
            name: "LectureLoopbackTests",
            dependencies: [
                "LectureLoopback", "LectureServedMedia", "LectureHTTP", "LectureKit", "LectureModel",
                "LectureProgramSupport", "LectureTestSupport",
            ]),
        // Lectures of the server of a store: real clients, players and a browser.
        .testTarget(
            name: "ClassroomTests",
            dependencies: [
                "LectureServe", "LectureServedMedia", "LectureHTTP", "LectureKit", "LectureCrypto", "LectureFormats",
                "LectureModel", "LectureProgramSupport", "LectureTestSupport",
            ]),
        // The control plane of live lectures: the machines as values, real servers, nginx and ffmpeg.
        .testTarget(
            name: "LectureLiveServerTests",
            dependencies: [
                "LectureLiveServer", "LectureLive", "LectureHTTP", "LectureCrypto", "LectureFiles", "LectureSQLite",
                "LectureFormats", "LectureModel", "LectureTestSupport", "LiveTestSupport",
            ]),
        // Live lectures from one end to the other.
        .testTarget(
            name: "LiveWalkTests",
            dependencies: [
                "LectureLiveServer", "LectureLiveClient", "LectureLiveMedia", "LectureLiveOffline", "LectureLive",
                "LectureKit", "LectureTransport",
                "LectureFiles", "LectureFormats", "LectureModel", "LectureTestSupport",
            ]),
        // The command of live lectures, in this process and as the built program, against the program's own server.
        .testTarget(
            name: "LectureLiveCommandTests",
            dependencies: [
                "LectureLiveCommand", "LectureCommand", "LectureLiveServer", "LectureLiveClient", "LectureLive",
                "FlipFlopLiteMedia", "LecturePlayer", "FlipFlopLiteSDK", "LectureTransport", "LectureFiles",
                "LectureFormats", "LectureKit", "LectureModel",
                "LiveTestSupport", "LectureProgramSupport", "LectureTestSupport",
            ],
            exclude: ["Golden"]),
        // The façade with its media, against the program's own server.
        .testTarget(
            name: "FlipFlopLiteMediaTests",
            dependencies: [
                "FlipFlopLiteMedia", "FlipFlopLiteSDK", "LectureLiveServer", "LectureLiveClient", "LectureLiveMedia",
                "LecturePlayer", "LectureLive", "LectureFiles",
                "LectureFormats", "LectureModel", "LiveTestSupport", "LectureTestSupport",
            ]),
        // Live media: a real RTMP server, real encoders, and bad networks.
        .testTarget(
            name: "LectureLiveMediaTests",
            dependencies: ["LectureLiveMedia", "LectureModel", "LiveTestSupport", "LectureTestSupport"]),
        .testTarget(name: "FuzzCorpusTests", dependencies: ["LectureFuzzing", "LectureTestSupport"]),
        .testTarget(
            name: "SimulationTests",
            dependencies: ["LectureSimulation", "LectureModel", "LectureTestSupport"], exclude: ["Regressions"]),
        .testTarget(name: "SandboxTests", dependencies: ["LectureTestSupport"]),
    ]
)

// Only some of the tests, for quick runs: LECTUREKIT_TESTS="KollusStorageTests" swift test
if let names = Context.environment["LECTUREKIT_TESTS"]?.split(separator: " ").map(String.init) {
    package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}

// libFuzzer brings its own `main`, so this program links only when it is built with the sanitizer: see Tools/fuzz.
if Context.environment["LECTUREKIT_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(name: "lecture-fuzz", dependencies: ["LectureFuzzing"], path: "Tests/Fuzzing/lecture-fuzz"))
}

// One loop, so that no target can be forgotten.
for target in package.targets
where target.type != .system && !["CLectureMedia", "CMemory", "CSystem", "CSandbox"].contains(target.name) {
    // Applications: warnings are errors, otherwise the settings of a new Xcode project.
    if target.name.hasPrefix("KollusClient") || target.name.hasPrefix("FlipFlopClient") || target.name == "kollus-guide"
    {
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
