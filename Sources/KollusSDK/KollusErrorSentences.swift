extension KollusError.Code {
    /// One or two sentences for each number: what happened, and what to do.
    static let sentences: [Self: String] = [
        .DISABLED_BOOKMARK_CONTENT: "Bookmarks are not permitted for this lecture.",
        .CONTENT_NOT_PREPARED: "The lecture is not prepared yet. Prepare it before playing.",
        .COULD_NOT_SCROLL_MODE: "The picture cannot be scrolled in this mode.",
        .INCORRECT_BUNDLE_ID:
            "The application key was issued for another bundle id. Set applicationBundleID to the one it was "
            + "issued for.",
        .EXPIRED_AUTH_DATE: "The application key has expired. Ask the provider for a new one, or correct the clock.",
        .INCORRECT_AUTH_DATE:
            "The date is not the one the application key was issued with. Set applicationExpireDate to the "
            + "issued date.",
        .INCORRECT_AUTH_KEY:
            "The application key cannot be verified. Check applicationKey, the device's clock, and that "
            + "LECTURE_TRUST or the configuration names the issuer's trust directory.",
        .NOT_ENOUGH_AUTH_INFO:
            "Key, bundle id or date is missing. Set applicationKey, applicationBundleID and "
            + "applicationExpireDate before start. Bundle.main.bundleIdentifier is nil on Linux: set the bundle id, "
            + "or put an Info.plist with CFBundleIdentifier beside the program.",
        .KOLLUS_STORAGE_IS_EMPTY: "The player has no storage. Set its storage.",
        .CONTENT_URL_IS_EMPTY: "The player has neither a URL nor a key.",
        .CONTENT_IS_MIRRORING: "The lecture may not be played while the screen is mirrored.",
        .DISCONNECT_PLAY_SESSION: "The local play session is lost. Play again.",
        .ERROR_CREATE_DIRECTORY: "A directory of the storage cannot be created. Check the path and its permissions.",
        .ERROR_CREATE_FILE: "A file cannot be created. Check the permissions of the storage's directory.",
        .ERROR_SAVE_DATA: "A file's data cannot be saved. Check the disk.",
        .ERROR_OPEN_DB:
            "The storage's database cannot be opened. Check the path, its permissions, and that no other "
            + "program's file is there.",
        .ERROR_CREATE_TABLE: "The storage's database cannot be set up.",
        .ERROR_SELECT_TABLE: "The storage's database cannot be read.",
        .ERROR_DELETE_RECORD: "A record of the storage cannot be deleted.",
        .ERROR_INSERT_RECORD: "A record of the storage cannot be written.",
        .ERROR_OPEN_FILE: "A file of the storage cannot be opened.",
        .ERROR_OUT_OF_MEMORY: "There is not enough memory.",
        .ERROR_READ_FILE: "A file of the storage cannot be read. Check the disk.",
        .ERROR_WRITE_FILE:
            "A file of the storage cannot be written. Check the disk and its permissions, then download again.",
        .ERROR_ABNORMAL_GATEWAY_INFO: "The gateway's response cannot be used.",
        .ERROR_PARAM_VALUE: "An argument is missing or invalid. Check what was passed.",
        .ERROR_NOT_LOAD:
            "The lecture is not loaded. Start the storage before all other calls, and call loadContentURL first.",
        .ERROR_CANCEL_DOWNLOAD:
            "The download was cancelled. Downloaded data is kept; a new download continues from there.",
        .ERROR_NETWORK: "The network failed. Try again.",
        .ERROR_GET_CONTENTS_LENGTH: "The server announced an impossible length. Report this to the provider.",
        .ERROR_GET_ENCODE_LEVEL: "The encoding level cannot be used.",
        .ERROR_GET_MEDIA_URL: "The server redirects without saying where to. Report this to the provider.",
        .ERROR_NOT_FOUND_DATA: "Data is missing.",
        .ERROR_NOT_FOUND_ID: "No lecture has this key or URL. Load it, or refresh the list.",
        .ERROR_DECODE_HEADER: "A header of the server cannot be read.",
        .ERROR_STORAGE_FULL:
            "There is not enough space on the disk. Free some space and download again; downloaded data is kept.",
        .ERROR_UPDATE_RECORD: "A record of the storage cannot be changed.",
        .ERROR_REMOVE_CACHE: "The streaming cache cannot be cleared.",
        .ERROR_NOT_FOUND_SNAPSHOT_FILENAME: "The description has no usable snapshot.",
        .ERROR_NOT_FOUND_THUMBNAIL_FILENAME: "The description has no usable thumbnail sheet.",
        .ERROR_NOT_FOUND_RECORD: "The lecture's record no longer exists. Refresh the list.",
        .ERROR_NOT_DOWNLOAD_COMPLETE_ALL: "The lecture is not complete. Download it first.",
        .ERROR_NOT_DOWNLOAD_TYPE: "Lectures of this type cannot be downloaded.",
        .ERROR_ALREADY_DOWNLOADING: "The lecture is already being downloaded. Wait for its events.",
        .ERROR_DECRYPT_CONTENT_INFO_LINK: "The gateway's description cannot be decrypted.",
        .ERROR_PARSE_CONTENT_INFO_LINK:
            "The gateway's description of the lecture is not readable. Report this to the provider.",
        .ERROR_DECRYPT_COMPANY_AUTH_INFO:
            "The licence server's response is not a valid token. Check the key in the configuration's "
            + "drm member.",
        .ERROR_PARSE_COMPANY_AUTH_INFO:
            "The licence server's response is not the expected JSON. Report this to the provider.",
        .ERROR_NOT_VAILD_COMPANY_AUTH_INFO:
            "The licence server returned an invalid value. Report this to the provider.",
        .ERROR_NO_USE_CONTENT_URL: "This URL cannot be loaded. Pass an http or https link to a lecture.",
        .ERROR_NOT_EXIST_DOWNLOADED_CONTENTS: "The lecture has no finished download. Download it first.",
        .ERROR_NOT_VAILD_DEVICE_TYPE: "The device type is not valid.",
        .ERROR_NOT_VAILD_DEVICE_LEVEL: "The device level is not valid.",
        .ERROR_DOWNLOADED_EXTRA_BLOCK: "The server sent more bytes than the lecture has.",
        .ERROR_INIT_NETWORK_LIBRARY: "The network library cannot be used.",
        .ERROR_EXPIRATION_DATE:
            "The licence has ended. Renew it with updateDownloadDRMInfo while there is a network.",
        .ERROR_EXPIRATION_COUNT: "The licence's plays are used up. Renew it, or ask the provider.",
        .ERROR_REQUEST_CONTENT_URL: "The lecture is not complete. A new download continues where the last one stopped.",
        .ERROR_NOT_VAILD_CONTENTS_INFO: "The stored lecture is damaged. Download it again.",
        .ERROR_CREATE_NO_MEDIA_FILE: "A marker file cannot be created.",
        .ERROR_NOT_REMOVE_TYPE: "Samples are kept unless their removal is requested explicitly.",
        .ERROR_DECRYPT: "A protected text cannot be read.",
        .ERROR_NOT_ALLOW_DOWNLOAD: "This link does not permit downloading. Ask the provider for a download link.",
        .ERROR_EMPTY_COMPANY_AUTH_INFO:
            "The licence server's response is empty. Report this to the provider: the server probably does not decode "
            + "the form (application/x-www-form-urlencoded) with the field items.",
        .ERROR_EMPTY_CONTENT_INFO: "The gateway's description of the lecture is empty. Report this to the provider.",
        .ERROR_NOT_FOUND_DOMAIN: "The domain is not permitted.",
        .ERROR_NOT_RECEIVE_DOMAIN: "The server sent no list of domains.",
        .ERROR_ABNORMAL_DRM_INFO: "The licence server does not permit this download. Ask the provider.",
        .ERROR_ABNORMAL_DRM_COMPLETE: "The licence server refuses the completed download. Ask the provider.",
        .ERROR_ABNORMAL_DRM_PLAY: "The licence server does not permit this play. Ask the provider.",
        .ERROR_FORCE_EXPIRED: "The licence server has ended the licence. Ask the provider.",
        .ERROR_NOT_RECEIVE_ENC_DATA: "The server sent no protected data.",
        .ERROR_NOT_FOUND_MOBILE_LOGO_FILENAME: "The description has no usable logo.",
        .ERROR_CANNOT_CALL_API: "The storage is closed. Create a new one.",
        .ERROR_NOT_FOUND_THUMBNAIL_URL: "The description has no URL of a thumbnail sheet.",
        .ERROR_ALTER_TABLE: "The storage's database cannot be migrated.",
        .ERROR_DIFFERENT_TIME:
            "The clock of this device cannot be trusted. Correct it, or connect to the network once.",
        .ERROR_EMPTY_POSTER_INFO: "The poster server sent an empty response.",
        .ERROR_PARSE_POSTER_INFO: "The poster server's response is not JSON.",
        .ERROR_NOT_FOUND_POSTER_URL: "The poster server sent no URL.",
        .ERROR_GET_MEDIA_ID: "The lecture has no media id.",
        .ERROR_NOT_FOUND_SUBTITLE_FILENAME: "The description has no usable subtitle file.",
        .ERROR_EMPTY_PLAY_CALLBACK_INFO: "The play callback's response is empty.",
        .ERROR_DECRYPT_PLAY_CALLBACK_INFO: "The play callback's response is not a valid token.",
        .ERROR_PARSE_PLAY_CALLBACK_INFO: "The play callback's response is not the expected JSON.",
        .ERROR_ABNORMAL_PLAY_CALLBACK_INFO: "The play callback does not permit this play.",
        .ERROR_PLAY_CALLBACK_EXPIRED: "The play callback says that the lecture has expired.",
        .ERROR_ABNORMAL_PLAY_CALLBACK_INFO_PLAY: "The play callback has ended this play.",
        .ERROR_ABNORMAL_POSTER_INFO: "The poster server returned an error.",
        .ERROR_NOT_RECEIVE_CONTENT_TYPE: "The server sent no content type.",
        .ERROR_NOT_RECEIVE_LAST_MODIFIED: "The server sent no modification date.",
        .ERROR_ENCRYPT_KEY: "Stored data cannot be protected. Check the device's key.",
        .ERROR_FORCE_DELETE: "The licence server has revoked the lecture. Its file was deleted; refresh the list.",
        .ERROR_DIFFERENT_EXPIRE_RESET:
            "The licence server's response belongs to another request. Report this to the provider.",
        .ERROR_NOT_FOUND_DRM_KIND: "The licence server did not answer for this lecture. Try again.",
        .ERROR_EXPIRATION_PLAY_TIME: "The licence's play time is used up. Renew it, or ask the provider.",
        .ERROR_PLAY_CALLBACK_EXPIRATION_PLAY_TIME: "The play time of this stream is used up.",
        .ERROR_CHECK_EXPIRATION_DATE: "The licence must be checked first. Connect to the network and renew it.",
        .NOT_FOUND_COMMON_INFO: "The description has no common part.",
        .NOT_FOUND_ITEM_IN_PLAYLIST: "The description's playlist does not have this item.",
        .EMPTY_PLAYLIST_INFO: "The description's playlist is empty.",
        .INTRO_CANNOT_DOWNLOAD: "An intro cannot be downloaded.",
        .DUPLICATION_NETWORK_ERR: "The check for plays on other devices failed. Check the network.",
        .VIDEO_GATEWAY_ABNORMAL_RESPONSE: "The gateway returned an error. Ask the provider.",
        .ERROR_ALREADY_DOWNLOADED: "The lecture is already complete. Play it.",
    ]
}
