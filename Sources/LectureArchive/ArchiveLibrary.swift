import CArchive
import Glibc

/// libarchive, opened with the first stream.
///
/// Few commands compress anything, and the library brings libxml2 and ICU: linked, it would take a quarter of the time
/// in which each process starts.
@safe struct ArchiveLibrary: Sendable {
    /// Why the library cannot be used, for the cause of an error.
    struct Unusable: Error, Hashable {
        let reason: String
    }

    let writing: ArchiveWriting
    let settings: ArchiveSettings
    let reading: ArchiveReading
    let state: ArchiveState
    let tar: TarFunctions

    /// The name that every libarchive 3 has had since 2013; a library of another interface has another number.
    static let name = "libarchive.so.13"

    /// The library of this process. It stays open: its functions may be in use.
    static let shared = Result { () throws(Unusable) in try ArchiveLibrary(name) }

    /// Opens a library.
    ///
    /// - Parameter name: as `dlopen` takes it.
    /// - Throws: ``Unusable``.
    init(_ name: String) throws(Unusable) {
        guard let handle = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else { throw Self.failure }
        let functions = unsafe Functions(handle)
        writing = try ArchiveWriting(functions)
        settings = try ArchiveSettings(functions)
        reading = try ArchiveReading(functions)
        state = try ArchiveState(functions)
        tar = try TarFunctions(functions)
    }

    /// The loader's message about its last failure; it names the file.
    private static var failure: Unusable {
        Unusable(reason: unsafe dlerror().map { unsafe String(cString: $0) } ?? "it cannot be loaded")
    }

    /// The functions of an open library, by name.
    @safe struct Functions {
        private let handle: UnsafeMutableRawPointer

        init(_ handle: UnsafeMutableRawPointer) { unsafe self.handle = unsafe handle }

        /// Looks a function up.
        ///
        /// - Parameters:
        ///   - name: its name.
        ///   - type: its type, which the shim takes from the declaration of that name.
        /// - Returns: the function, as long as the process runs.
        /// - Throws: ``Unusable``.
        func find<Function>(_ name: String, _ type: Function.Type) throws(Unusable) -> Function {
            guard let symbol = unsafe dlsym(handle, name) else { throw ArchiveLibrary.failure }
            // Sound: a function pointer has the size of any pointer, and the declaration gives its type.
            return unsafe unsafeBitCast(symbol, to: type)
        }
    }

    /// The library's message about its last failure.
    func reason(_ archive: OpaquePointer) -> String {
        unsafe state.errorString(archive).map { unsafe String(cString: $0) } ?? "libarchive gives no reason"
    }
}

/// The functions that write a stream.
@safe struct ArchiveWriting: Sendable {
    let new: carchive_write_new
    let open: carchive_write_open
    let header: carchive_write_header
    let data: carchive_write_data
    let close: carchive_write_close
    let fail: carchive_write_fail
    let free: carchive_write_free
    let newEntry: carchive_entry_new
    let setFileType: carchive_entry_set_filetype
    let freeEntry: carchive_entry_free

    init(_ library: ArchiveLibrary.Functions) throws(ArchiveLibrary.Unusable) {
        unsafe new = try unsafe library.find("archive_write_new", carchive_write_new.self)
        unsafe open = try unsafe library.find("archive_write_open", carchive_write_open.self)
        unsafe header = try unsafe library.find("archive_write_header", carchive_write_header.self)
        unsafe data = try unsafe library.find("archive_write_data", carchive_write_data.self)
        unsafe close = try unsafe library.find("archive_write_close", carchive_write_close.self)
        unsafe fail = try unsafe library.find("archive_write_fail", carchive_write_fail.self)
        unsafe free = try unsafe library.find("archive_write_free", carchive_write_free.self)
        unsafe newEntry = try unsafe library.find("archive_entry_new", carchive_entry_new.self)
        unsafe setFileType = try unsafe library.find("archive_entry_set_filetype", carchive_entry_set_filetype.self)
        unsafe freeEntry = try unsafe library.find("archive_entry_free", carchive_entry_free.self)
    }
}

/// The functions that choose what a written stream is.
@safe struct ArchiveSettings: Sendable {
    let addGzip: carchive_write_add_filter_gzip
    let addZstd: carchive_write_add_filter_zstd
    let setOption: carchive_write_set_filter_option
    let setRawFormat: carchive_write_set_format_raw
    let setBlockBytes: carchive_write_set_bytes_per_block
    let setLastBlockBytes: carchive_write_set_bytes_in_last_block

    init(_ library: ArchiveLibrary.Functions) throws(ArchiveLibrary.Unusable) {
        unsafe addGzip = try unsafe library.find("archive_write_add_filter_gzip", carchive_write_add_filter_gzip.self)
        unsafe addZstd = try unsafe library.find("archive_write_add_filter_zstd", carchive_write_add_filter_zstd.self)
        unsafe setOption = try unsafe library.find(
            "archive_write_set_filter_option", carchive_write_set_filter_option.self)
        unsafe setRawFormat = try unsafe library.find(
            "archive_write_set_format_raw", carchive_write_set_format_raw.self)
        unsafe setBlockBytes = try unsafe library.find(
            "archive_write_set_bytes_per_block", carchive_write_set_bytes_per_block.self)
        unsafe setLastBlockBytes = try unsafe library.find(
            "archive_write_set_bytes_in_last_block", carchive_write_set_bytes_in_last_block.self)
    }
}

/// The functions that read a stream.
@safe struct ArchiveReading: Sendable {
    let new: carchive_read_new
    let supportGzip: carchive_read_support_filter_gzip
    let supportZstd: carchive_read_support_filter_zstd
    let supportRaw: carchive_read_support_format_raw
    let supportEmpty: carchive_read_support_format_empty
    let open: carchive_read_open
    let nextHeader: carchive_read_next_header
    let data: carchive_read_data
    let free: carchive_read_free

    init(_ library: ArchiveLibrary.Functions) throws(ArchiveLibrary.Unusable) {
        unsafe new = try unsafe library.find("archive_read_new", carchive_read_new.self)
        unsafe supportGzip = try unsafe library.find(
            "archive_read_support_filter_gzip", carchive_read_support_filter_gzip.self)
        unsafe supportZstd = try unsafe library.find(
            "archive_read_support_filter_zstd", carchive_read_support_filter_zstd.self)
        unsafe supportRaw = try unsafe library.find(
            "archive_read_support_format_raw", carchive_read_support_format_raw.self)
        unsafe supportEmpty = try unsafe library.find(
            "archive_read_support_format_empty", carchive_read_support_format_empty.self)
        unsafe open = try unsafe library.find("archive_read_open", carchive_read_open.self)
        unsafe nextHeader = try unsafe library.find("archive_read_next_header", carchive_read_next_header.self)
        unsafe data = try unsafe library.find("archive_read_data", carchive_read_data.self)
        unsafe free = try unsafe library.find("archive_read_free", carchive_read_free.self)
    }
}

/// The functions that say how a stream is.
@safe struct ArchiveState: Sendable {
    let errorNumber: carchive_errno
    let errorString: carchive_error_string
    let filterCode: carchive_filter_code

    init(_ library: ArchiveLibrary.Functions) throws(ArchiveLibrary.Unusable) {
        unsafe errorNumber = try unsafe library.find("archive_errno", carchive_errno.self)
        unsafe errorString = try unsafe library.find("archive_error_string", carchive_error_string.self)
        unsafe filterCode = try unsafe library.find("archive_filter_code", carchive_filter_code.self)
    }
}

/// The functions for archives with named files.
@safe struct TarFunctions: Sendable {
    let setFormat: carchive_write_set_format_ustar
    let clearEntry: carchive_entry_clear
    let setPath: carchive_entry_set_pathname
    let setSize: carchive_entry_set_size
    let setPermissions: carchive_entry_set_perm
    let supportFormat: carchive_read_support_format_tar
    let open: carchive_read_open2
    let headerPosition: carchive_read_header_position
    let path: carchive_entry_pathname
    let fileType: carchive_entry_filetype
    let size: carchive_entry_size
    let hardLink: carchive_entry_hardlink
    let holes: carchive_entry_sparse_count

    init(_ library: ArchiveLibrary.Functions) throws(ArchiveLibrary.Unusable) {
        unsafe setFormat = try unsafe library.find(
            "archive_write_set_format_ustar", carchive_write_set_format_ustar.self)
        unsafe clearEntry = try unsafe library.find("archive_entry_clear", carchive_entry_clear.self)
        unsafe setPath = try unsafe library.find("archive_entry_set_pathname", carchive_entry_set_pathname.self)
        unsafe setSize = try unsafe library.find("archive_entry_set_size", carchive_entry_set_size.self)
        unsafe setPermissions = try unsafe library.find("archive_entry_set_perm", carchive_entry_set_perm.self)
        unsafe supportFormat = try unsafe library.find(
            "archive_read_support_format_tar", carchive_read_support_format_tar.self)
        unsafe open = try unsafe library.find("archive_read_open2", carchive_read_open2.self)
        unsafe headerPosition = try unsafe library.find(
            "archive_read_header_position", carchive_read_header_position.self)
        unsafe path = try unsafe library.find("archive_entry_pathname", carchive_entry_pathname.self)
        unsafe fileType = try unsafe library.find("archive_entry_filetype", carchive_entry_filetype.self)
        unsafe size = try unsafe library.find("archive_entry_size", carchive_entry_size.self)
        unsafe hardLink = try unsafe library.find("archive_entry_hardlink", carchive_entry_hardlink.self)
        unsafe holes = try unsafe library.find("archive_entry_sparse_count", carchive_entry_sparse_count.self)
    }
}
