// The names are the vendor's, with the vendor's spelling.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

extension KollusError {
    /// The vendor's numbers with the vendor's names, as in table B of the fact sheet (where lists disagree, the newest
    /// one applies; the vendor's spelling stays). A ``KollusStorage`` does not return all of them: some belong to
    /// players, to streaming, or to formats that are not used here.
    ///
    /// Families without their own names: −8000−n is libcurl's result n below 100 or the HTTP status n of a content
    /// server, −9000−n the same of a licence server. Numbers below −20000 are LectureKit's own.
    ///
    /// What a number means is its ``sentence``; <doc:ErrorNumbers> lists all of them.
    public enum Code: Int, Sendable, CaseIterable {
        case DISABLED_BOOKMARK_CONTENT = -2100
        case CONTENT_NOT_PREPARED = -2101
        case COULD_NOT_SCROLL_MODE = -2102
        case INCORRECT_BUNDLE_ID = -2103
        case EXPIRED_AUTH_DATE = -2104
        case INCORRECT_AUTH_DATE = -2105
        case INCORRECT_AUTH_KEY = -2106
        case NOT_ENOUGH_AUTH_INFO = -2107
        case KOLLUS_STORAGE_IS_EMPTY = -2108
        case CONTENT_URL_IS_EMPTY = -2109
        case CONTENT_IS_MIRRORING = -2110
        case DISCONNECT_PLAY_SESSION = -2111
        case ERROR_CREATE_DIRECTORY = -8600
        case ERROR_CREATE_FILE = -8601
        case ERROR_SAVE_DATA = -8602
        case ERROR_OPEN_DB = -8603
        case ERROR_CREATE_TABLE = -8604
        case ERROR_SELECT_TABLE = -8605
        case ERROR_DELETE_RECORD = -8606
        case ERROR_INSERT_RECORD = -8607
        case ERROR_OPEN_FILE = -8608
        case ERROR_OUT_OF_MEMORY = -8609
        case ERROR_READ_FILE = -8610
        case ERROR_WRITE_FILE = -8611
        case ERROR_ABNORMAL_GATEWAY_INFO = -8612
        case ERROR_PARAM_VALUE = -8613
        case ERROR_NOT_LOAD = -8614
        case ERROR_CANCEL_DOWNLOAD = -8615
        case ERROR_NETWORK = -8616
        case ERROR_GET_CONTENTS_LENGTH = -8617
        case ERROR_GET_ENCODE_LEVEL = -8618
        case ERROR_GET_MEDIA_URL = -8619
        case ERROR_NOT_FOUND_DATA = -8620
        case ERROR_NOT_FOUND_ID = -8621
        case ERROR_DECODE_HEADER = -8622
        case ERROR_STORAGE_FULL = -8623
        case ERROR_UPDATE_RECORD = -8624
        case ERROR_REMOVE_CACHE = -8625
        case ERROR_NOT_FOUND_SNAPSHOT_FILENAME = -8626
        case ERROR_NOT_FOUND_THUMBNAIL_FILENAME = -8627
        case ERROR_NOT_FOUND_RECORD = -8628
        case ERROR_NOT_DOWNLOAD_COMPLETE_ALL = -8629
        case ERROR_NOT_DOWNLOAD_TYPE = -8630
        case ERROR_ALREADY_DOWNLOADING = -8631
        case ERROR_DECRYPT_CONTENT_INFO_LINK = -8632
        case ERROR_PARSE_CONTENT_INFO_LINK = -8633
        case ERROR_DECRYPT_COMPANY_AUTH_INFO = -8634
        case ERROR_PARSE_COMPANY_AUTH_INFO = -8635
        case ERROR_NOT_VAILD_COMPANY_AUTH_INFO = -8636
        case ERROR_NO_USE_CONTENT_URL = -8637
        case ERROR_NOT_EXIST_DOWNLOADED_CONTENTS = -8638
        case ERROR_NOT_VAILD_DEVICE_TYPE = -8639
        case ERROR_NOT_VAILD_DEVICE_LEVEL = -8640
        case ERROR_DOWNLOADED_EXTRA_BLOCK = -8641
        case ERROR_INIT_NETWORK_LIBRARY = -8642
        case ERROR_EXPIRATION_DATE = -8643
        case ERROR_EXPIRATION_COUNT = -8644
        case ERROR_REQUEST_CONTENT_URL = -8645
        case ERROR_NOT_VAILD_CONTENTS_INFO = -8646
        case ERROR_CREATE_NO_MEDIA_FILE = -8647
        case ERROR_NOT_REMOVE_TYPE = -8648
        case ERROR_DECRYPT = -8649
        case ERROR_NOT_ALLOW_DOWNLOAD = -8650
        case ERROR_EMPTY_COMPANY_AUTH_INFO = -8651
        case ERROR_EMPTY_CONTENT_INFO = -8652
        case ERROR_NOT_FOUND_DOMAIN = -8653
        case ERROR_NOT_RECEIVE_DOMAIN = -8654
        case ERROR_ABNORMAL_DRM_INFO = -8655
        case ERROR_ABNORMAL_DRM_COMPLETE = -8656
        case ERROR_ABNORMAL_DRM_PLAY = -8657
        case ERROR_FORCE_EXPIRED = -8658
        case ERROR_NOT_RECEIVE_ENC_DATA = -8659
        case ERROR_NOT_FOUND_MOBILE_LOGO_FILENAME = -8660
        case ERROR_CANNOT_CALL_API = -8661
        case ERROR_NOT_FOUND_THUMBNAIL_URL = -8662
        case ERROR_ALTER_TABLE = -8663
        case ERROR_DIFFERENT_TIME = -8664
        case ERROR_EMPTY_POSTER_INFO = -8665
        case ERROR_PARSE_POSTER_INFO = -8666
        case ERROR_NOT_FOUND_POSTER_URL = -8667
        case ERROR_GET_MEDIA_ID = -8668
        case ERROR_NOT_FOUND_SUBTITLE_FILENAME = -8669
        case ERROR_EMPTY_PLAY_CALLBACK_INFO = -8670
        case ERROR_DECRYPT_PLAY_CALLBACK_INFO = -8671
        case ERROR_PARSE_PLAY_CALLBACK_INFO = -8672
        case ERROR_ABNORMAL_PLAY_CALLBACK_INFO = -8673
        case ERROR_PLAY_CALLBACK_EXPIRED = -8674
        case ERROR_ABNORMAL_PLAY_CALLBACK_INFO_PLAY = -8675
        case ERROR_ABNORMAL_POSTER_INFO = -8676
        case ERROR_NOT_RECEIVE_CONTENT_TYPE = -8677
        case ERROR_NOT_RECEIVE_LAST_MODIFIED = -8678
        case ERROR_ENCRYPT_KEY = -8679
        case ERROR_FORCE_DELETE = -8680
        case ERROR_DIFFERENT_EXPIRE_RESET = -8681
        case ERROR_NOT_FOUND_DRM_KIND = -8682
        case ERROR_EXPIRATION_PLAY_TIME = -8683
        case ERROR_PLAY_CALLBACK_EXPIRATION_PLAY_TIME = -8686
        case ERROR_CHECK_EXPIRATION_DATE = -8687
        case NOT_FOUND_COMMON_INFO = -8800
        case NOT_FOUND_ITEM_IN_PLAYLIST = -8801
        case EMPTY_PLAYLIST_INFO = -8802
        case INTRO_CANNOT_DOWNLOAD = -8803
        case DUPLICATION_NETWORK_ERR = -8804
        case VIDEO_GATEWAY_ABNORMAL_RESPONSE = -8900
        case ERROR_ALREADY_DOWNLOADED = -9000

        /// What happened and what to do.
        public var sentence: String { Self.sentences[self] ?? "" }
    }
}
