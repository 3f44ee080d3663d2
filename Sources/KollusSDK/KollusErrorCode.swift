// The names are the vendor's, with the vendor's spelling.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

extension KollusError {
    /// The vendor's numbers with the vendor's names, as in table B of the fact sheet (where lists disagree, the newest
    /// one applies; the vendor's spelling stays). A ``KollusStorage`` does not return all of them: some belong to
    /// players, to streaming, or to formats that are not used here.
    ///
    /// Families without their own names: −8000−n is libcurl's result n below 100 or the HTTP status n of a content
    /// server, −9000−n the same of a licence server. Numbers below −20000 are LectureKit's own.
    public enum Code: Int, Sendable, CaseIterable {
        /// Bookmarks are not permitted for this lecture.
        case DISABLED_BOOKMARK_CONTENT = -2100
        /// The lecture is not prepared yet. Prepare it before playing.
        case CONTENT_NOT_PREPARED = -2101
        /// The picture cannot be scrolled in this mode.
        case COULD_NOT_SCROLL_MODE = -2102
        /// The application key was issued for another bundle id. Set applicationBundleID to the one it was issued for.
        case INCORRECT_BUNDLE_ID = -2103
        /// The application key has expired. Ask the provider for a new one, or correct the clock.
        case EXPIRED_AUTH_DATE = -2104
        /// The date is not the one the application key was issued with. Set applicationExpireDate to the issued date.
        case INCORRECT_AUTH_DATE = -2105
        /// The application key cannot be verified. Check applicationKey, the device's clock, and that LECTURE_TRUST or
        /// the configuration names the issuer's trust directory.
        case INCORRECT_AUTH_KEY = -2106
        /// Key, bundle id or date is missing. Set applicationKey, applicationBundleID and applicationExpireDate before
        /// start. Bundle.main.bundleIdentifier is nil on Linux: set the bundle id, or put an Info.plist with
        /// CFBundleIdentifier beside the program.
        case NOT_ENOUGH_AUTH_INFO = -2107
        /// The player has no storage. Set its storage.
        case KOLLUS_STORAGE_IS_EMPTY = -2108
        /// The player has neither a URL nor a key.
        case CONTENT_URL_IS_EMPTY = -2109
        /// The lecture may not be played while the screen is mirrored.
        case CONTENT_IS_MIRRORING = -2110
        /// The local play session is lost. Play again.
        case DISCONNECT_PLAY_SESSION = -2111
        /// A directory of the storage cannot be created. Check the path and its permissions.
        case ERROR_CREATE_DIRECTORY = -8600
        /// A file cannot be created. Check the permissions of the storage's directory.
        case ERROR_CREATE_FILE = -8601
        /// A file's data cannot be saved. Check the disk.
        case ERROR_SAVE_DATA = -8602
        /// The storage's database cannot be opened. Check the path, its permissions, and that no other program's file
        /// is there.
        case ERROR_OPEN_DB = -8603
        /// The storage's database cannot be set up.
        case ERROR_CREATE_TABLE = -8604
        /// The storage's database cannot be read.
        case ERROR_SELECT_TABLE = -8605
        /// A record of the storage cannot be deleted.
        case ERROR_DELETE_RECORD = -8606
        /// A record of the storage cannot be written.
        case ERROR_INSERT_RECORD = -8607
        /// A file of the storage cannot be opened.
        case ERROR_OPEN_FILE = -8608
        /// There is not enough memory.
        case ERROR_OUT_OF_MEMORY = -8609
        /// A file of the storage cannot be read. Check the disk.
        case ERROR_READ_FILE = -8610
        /// A file of the storage cannot be written. Check the disk and its permissions, then download again.
        case ERROR_WRITE_FILE = -8611
        /// The gateway's response cannot be used.
        case ERROR_ABNORMAL_GATEWAY_INFO = -8612
        /// An argument is missing or invalid. Check what was passed.
        case ERROR_PARAM_VALUE = -8613
        /// The lecture is not loaded. Start the storage before all other calls, and call loadContentURL first.
        case ERROR_NOT_LOAD = -8614
        /// The download was cancelled. Downloaded data is kept; a new download continues from there.
        case ERROR_CANCEL_DOWNLOAD = -8615
        /// The network failed. Try again.
        case ERROR_NETWORK = -8616
        /// The server announced an impossible length. Report this to the provider.
        case ERROR_GET_CONTENTS_LENGTH = -8617
        /// The encoding level cannot be used.
        case ERROR_GET_ENCODE_LEVEL = -8618
        /// The server redirects without saying where to. Report this to the provider.
        case ERROR_GET_MEDIA_URL = -8619
        /// Data is missing.
        case ERROR_NOT_FOUND_DATA = -8620
        /// No lecture has this key or URL. Load it, or refresh the list.
        case ERROR_NOT_FOUND_ID = -8621
        /// A header of the server cannot be read.
        case ERROR_DECODE_HEADER = -8622
        /// There is not enough space on the disk. Free some space and download again; downloaded data is kept.
        case ERROR_STORAGE_FULL = -8623
        /// A record of the storage cannot be changed.
        case ERROR_UPDATE_RECORD = -8624
        /// The streaming cache cannot be cleared.
        case ERROR_REMOVE_CACHE = -8625
        /// The description has no usable snapshot.
        case ERROR_NOT_FOUND_SNAPSHOT_FILENAME = -8626
        /// The description has no usable thumbnail sheet.
        case ERROR_NOT_FOUND_THUMBNAIL_FILENAME = -8627
        /// The lecture's record no longer exists. Refresh the list.
        case ERROR_NOT_FOUND_RECORD = -8628
        /// The lecture is not complete. Download it first.
        case ERROR_NOT_DOWNLOAD_COMPLETE_ALL = -8629
        /// Lectures of this type cannot be downloaded.
        case ERROR_NOT_DOWNLOAD_TYPE = -8630
        /// The lecture is already being downloaded. Wait for its events.
        case ERROR_ALREADY_DOWNLOADING = -8631
        /// The gateway's description cannot be decrypted.
        case ERROR_DECRYPT_CONTENT_INFO_LINK = -8632
        /// The gateway's description of the lecture is not readable. Report this to the provider.
        case ERROR_PARSE_CONTENT_INFO_LINK = -8633
        /// The licence server's response is not a valid token. Check the key in the configuration's drm member.
        case ERROR_DECRYPT_COMPANY_AUTH_INFO = -8634
        /// The licence server's response is not the expected JSON. Report this to the provider.
        case ERROR_PARSE_COMPANY_AUTH_INFO = -8635
        /// The licence server returned an invalid value. Report this to the provider.
        case ERROR_NOT_VAILD_COMPANY_AUTH_INFO = -8636
        /// This URL cannot be loaded. Pass an http or https link to a lecture.
        case ERROR_NO_USE_CONTENT_URL = -8637
        /// The lecture has no finished download. Download it first.
        case ERROR_NOT_EXIST_DOWNLOADED_CONTENTS = -8638
        /// The device type is not valid.
        case ERROR_NOT_VAILD_DEVICE_TYPE = -8639
        /// The device level is not valid.
        case ERROR_NOT_VAILD_DEVICE_LEVEL = -8640
        /// The server sent more bytes than the lecture has.
        case ERROR_DOWNLOADED_EXTRA_BLOCK = -8641
        /// The network library cannot be used.
        case ERROR_INIT_NETWORK_LIBRARY = -8642
        /// The licence has ended. Renew it with updateDownloadDRMInfo while there is a network.
        case ERROR_EXPIRATION_DATE = -8643
        /// The licence's plays are used up. Renew it, or ask the provider.
        case ERROR_EXPIRATION_COUNT = -8644
        /// The lecture is not complete. A new download continues where the last one stopped.
        case ERROR_REQUEST_CONTENT_URL = -8645
        /// The stored lecture is damaged. Download it again.
        case ERROR_NOT_VAILD_CONTENTS_INFO = -8646
        /// A marker file cannot be created.
        case ERROR_CREATE_NO_MEDIA_FILE = -8647
        /// Samples are kept unless their removal is requested explicitly.
        case ERROR_NOT_REMOVE_TYPE = -8648
        /// A protected text cannot be read.
        case ERROR_DECRYPT = -8649
        /// This link does not permit downloading. Ask the provider for a download link.
        case ERROR_NOT_ALLOW_DOWNLOAD = -8650
        /// The licence server's response is empty. Report this to the provider: the server probably does not decode the
        /// form (application/x-www-form-urlencoded) with the field items.
        case ERROR_EMPTY_COMPANY_AUTH_INFO = -8651
        /// The gateway's description of the lecture is empty. Report this to the provider.
        case ERROR_EMPTY_CONTENT_INFO = -8652
        /// The domain is not permitted.
        case ERROR_NOT_FOUND_DOMAIN = -8653
        /// The server sent no list of domains.
        case ERROR_NOT_RECEIVE_DOMAIN = -8654
        /// The licence server does not permit this download. Ask the provider.
        case ERROR_ABNORMAL_DRM_INFO = -8655
        /// The licence server refuses the completed download. Ask the provider.
        case ERROR_ABNORMAL_DRM_COMPLETE = -8656
        /// The licence server does not permit this play. Ask the provider.
        case ERROR_ABNORMAL_DRM_PLAY = -8657
        /// The licence server has ended the licence. Ask the provider.
        case ERROR_FORCE_EXPIRED = -8658
        /// The server sent no protected data.
        case ERROR_NOT_RECEIVE_ENC_DATA = -8659
        /// The description has no usable logo.
        case ERROR_NOT_FOUND_MOBILE_LOGO_FILENAME = -8660
        /// The storage is closed. Create a new one.
        case ERROR_CANNOT_CALL_API = -8661
        /// The description has no URL of a thumbnail sheet.
        case ERROR_NOT_FOUND_THUMBNAIL_URL = -8662
        /// The storage's database cannot be migrated.
        case ERROR_ALTER_TABLE = -8663
        /// The clock of this device cannot be trusted. Correct it, or connect to the network once.
        case ERROR_DIFFERENT_TIME = -8664
        /// The poster server sent an empty response.
        case ERROR_EMPTY_POSTER_INFO = -8665
        /// The poster server's response is not JSON.
        case ERROR_PARSE_POSTER_INFO = -8666
        /// The poster server sent no URL.
        case ERROR_NOT_FOUND_POSTER_URL = -8667
        /// The lecture has no media id.
        case ERROR_GET_MEDIA_ID = -8668
        /// The description has no usable subtitle file.
        case ERROR_NOT_FOUND_SUBTITLE_FILENAME = -8669
        /// The play callback's response is empty.
        case ERROR_EMPTY_PLAY_CALLBACK_INFO = -8670
        /// The play callback's response is not a valid token.
        case ERROR_DECRYPT_PLAY_CALLBACK_INFO = -8671
        /// The play callback's response is not the expected JSON.
        case ERROR_PARSE_PLAY_CALLBACK_INFO = -8672
        /// The play callback does not permit this play.
        case ERROR_ABNORMAL_PLAY_CALLBACK_INFO = -8673
        /// The play callback says that the lecture has expired.
        case ERROR_PLAY_CALLBACK_EXPIRED = -8674
        /// The play callback has ended this play.
        case ERROR_ABNORMAL_PLAY_CALLBACK_INFO_PLAY = -8675
        /// The poster server returned an error.
        case ERROR_ABNORMAL_POSTER_INFO = -8676
        /// The server sent no content type.
        case ERROR_NOT_RECEIVE_CONTENT_TYPE = -8677
        /// The server sent no modification date.
        case ERROR_NOT_RECEIVE_LAST_MODIFIED = -8678
        /// Stored data cannot be protected. Check the device's key.
        case ERROR_ENCRYPT_KEY = -8679
        /// The licence server has revoked the lecture. Its file was deleted; refresh the list.
        case ERROR_FORCE_DELETE = -8680
        /// The licence server's response belongs to another request. Report this to the provider.
        case ERROR_DIFFERENT_EXPIRE_RESET = -8681
        /// The licence server did not answer for this lecture. Try again.
        case ERROR_NOT_FOUND_DRM_KIND = -8682
        /// The licence's play time is used up. Renew it, or ask the provider.
        case ERROR_EXPIRATION_PLAY_TIME = -8683
        /// The play time of this stream is used up.
        case ERROR_PLAY_CALLBACK_EXPIRATION_PLAY_TIME = -8686
        /// The licence must be checked first. Connect to the network and renew it.
        case ERROR_CHECK_EXPIRATION_DATE = -8687
        /// The description has no common part.
        case NOT_FOUND_COMMON_INFO = -8800
        /// The description's playlist does not have this item.
        case NOT_FOUND_ITEM_IN_PLAYLIST = -8801
        /// The description's playlist is empty.
        case EMPTY_PLAYLIST_INFO = -8802
        /// An intro cannot be downloaded.
        case INTRO_CANNOT_DOWNLOAD = -8803
        /// The check for plays on other devices failed. Check the network.
        case DUPLICATION_NETWORK_ERR = -8804
        /// The gateway returned an error. Ask the provider.
        case VIDEO_GATEWAY_ABNORMAL_RESPONSE = -8900
        /// The lecture is already complete. Play it.
        case ERROR_ALREADY_DOWNLOADED = -9000

        /// What happened and what to do.
        public var sentence: String { Self.sentences[self] ?? "" }
    }
}
