/// Every shipped migration, oldest first.
///
/// Three lists must agree: this one, `migrations` in Package.swift, and the files of this directory with their digests
/// in SHA256SUMS. `Tools/check-migrations` compares them; nothing is computed at run time.
package enum MigrationCatalogue {
    /// A migration as it was built into the program.
    package struct Entry: Sendable {
        /// The file's name without its suffix.
        package let identifier: String
        /// The SHA-256 of the file, 64 lower-case hexadecimal digits, as in SHA256SUMS.
        package let sha256: String
        /// The bytes of the file.
        package let sql: [UInt8]
    }

    /// `PRAGMA application_id` of a store: "LKit" in ASCII.
    package static let applicationID: Int32 = 0x4C4B_6974

    /// The migrations.
    package static let entries = [
        Entry(
            identifier: "0001_create_store",
            sha256: "5e509f935ef2fc56b79fa0f83cab8826f905f281c09572ebc76d889f5dbb022a",
            sql: PackageResources._001_create_store_sql),
        Entry(
            identifier: "0002_add_licences",
            sha256: "377fc0368372e5694293571f39d5fe15afe0a411589ce169b33ee6994663e4a8",
            sql: PackageResources._002_add_licences_sql),
        Entry(
            identifier: "0003_add_statistics",
            sha256: "9023345c2be74e2c636690d6383eb2af2faaf10eae1cc101f6608acc5248f06e",
            sql: PackageResources._003_add_statistics_sql),
        Entry(
            identifier: "0004_add_resume_point",
            sha256: "4d9db4861f97ca8c5f527c393fb6f973aadff68bbe7c68016ff561d78525bb9e",
            sql: PackageResources._004_add_resume_point_sql),
        Entry(
            identifier: "0005_add_stream_cache",
            sha256: "99bbfe26ebf6e5a0dc59083a53ac9b844e469dee02ecfac67fa92c8912917912",
            sql: PackageResources._005_add_stream_cache_sql),
        Entry(
            identifier: "0006_add_version_source",
            sha256: "040f6251ef728f7244b73836936db0f12a7bb364d56d4e5b22c42d81628f30ef",
            sql: PackageResources._006_add_version_source_sql),
        Entry(
            identifier: "0007_add_course_lists",
            sha256: "b4c3fd57c283b1569d1c8cce4a2e0950d225e1c6a021d6af22cf8fb7f2de3381",
            sql: PackageResources._007_add_course_lists_sql),
        Entry(
            identifier: "0008_add_output_files",
            sha256: "83597a1e7d6f4d5f1a4e36543d276c4f7c0911f93dce12629bd1c4b548413564",
            sql: PackageResources._008_add_output_files_sql),
        Entry(
            identifier: "0009_add_granting_keys",
            sha256: "af7c39637dee30a1be958275e0aa48a5f82b93a9483cbc7d82849460825b4c2b",
            sql: PackageResources._009_add_granting_keys_sql),
        Entry(
            identifier: "0010_add_chunk_pieces",
            sha256: "2e80148034d52fb0fa47f8e1b16590474b376ff55c6ece0816d89c10f2273bc9",
            sql: PackageResources._010_add_chunk_pieces_sql),
        Entry(
            identifier: "0011_bind_content_keys",
            sha256: "aa7e815e037536722633f169e82cfa6b3d1f5092db9acb988bf02bd49ffc38bb",
            sql: PackageResources._011_bind_content_keys_sql),
        Entry(
            identifier: "0012_index_granting_keys",
            sha256: "000068dabb43ed47adfe9ee174d7e9df3d88de85e02e5e87a5eacf42fb1a88ad",
            sql: PackageResources._012_index_granting_keys_sql),
        Entry(
            identifier: "0013_index_errors",
            sha256: "6de8bc408dd9201ec9ab03e2feeef651c8dbdd349c592a1f29af2f655fe7a0b7",
            sql: PackageResources._013_index_errors_sql),
        Entry(
            identifier: "0014_add_play_sessions",
            sha256: "2428bfb7b33e9d915f71319125aab903585049d8db8a113f3ecd97e4e7892113",
            sql: PackageResources._014_add_play_sessions_sql),
        Entry(
            identifier: "0015_add_bookmarks",
            sha256: "30bf7ee98aa28dcfe2ebf978d442cb7c609db7bcff58b6bd3cde3d05d21a6f81",
            sql: PackageResources._015_add_bookmarks_sql),
        Entry(
            identifier: "0016_add_adaptive",
            sha256: "2a6740f8c7d9ae35b0027f22eafbd5221f0ac00ff6d2f333db69388430ea9e1a",
            sql: PackageResources._016_add_adaptive_sql),
        Entry(
            identifier: "0017_add_retention",
            sha256: "6f68e1ebcacb220066cc804a9230cd53cd603c3dca2fcff54f1b1530e4c5717a",
            sql: PackageResources._017_add_retention_sql),
        Entry(
            identifier: "0018_add_webhooks",
            sha256: "d8a4db30c415f6837e567554f0e6d74b203a0bb1f83bb30b7777e6e335b85983",
            sql: PackageResources._018_add_webhooks_sql),
        Entry(
            identifier: "0019_add_viewer_resume_point",
            sha256: "1ab2de7a0cdeb50649d1089eb328a02644abf9cdeb0a07b21254524a9b110cd2",
            sql: PackageResources._019_add_viewer_resume_point_sql),
    ]
}
