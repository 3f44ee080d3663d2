extension KollusError.Code {
    /// One sentence or two for each number: what happened, and what to do.
    static let sentences: [Self: String] = [
        .DISABLED_BOOKMARK_CONTENT: "Bookmarks are not permitted for this content.",
        .CONTENT_NOT_PREPARED: "The content is not prepared yet. Prepare it before playing.",
        .COULD_NOT_SCROLL_MODE: "The picture cannot be moved in this mode.",
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
            + "applicationExpireDate before start. Bundle.main.bundleIdentifier is nil on Linux: name the bundle id, "
            + "or put an Info.plist with CFBundleIdentifier beside the program.",
        .KOLLUS_STORAGE_IS_EMPTY: "The player has no storage. Set its storage.",
        .CONTENT_URL_IS_EMPTY: "The player has neither an address nor a key.",
        .CONTENT_IS_MIRRORING: "The content may not be played while the screen is mirrored.",
        .DISCONNECT_PLAY_SESSION: "The local play session is lost. Play again.",
        .ERROR_CREATE_DIRECTORY: "A directory of the storage cannot be made. Check the path and who may write there.",
        .ERROR_CREATE_FILE: "A file cannot be made. Check who may write to the storage's directory.",
        .ERROR_SAVE_DATA: "A file's data cannot be kept. Check the disk.",
        .ERROR_OPEN_DB:
            "The storage's database cannot be opened. Check the path, its permissions, and that no other "
            + "program's file lies there.",
        .ERROR_CREATE_TABLE: "The storage's database cannot be set up.",
        .ERROR_SELECT_TABLE: "The storage's database cannot be read.",
        .ERROR_DELETE_RECORD: "A record of the storage cannot be deleted.",
        .ERROR_INSERT_RECORD: "A record of the storage cannot be written.",
        .ERROR_OPEN_FILE: "A file of the storage cannot be opened.",
        .ERROR_OUT_OF_MEMORY: "There is not enough memory.",
        .ERROR_READ_FILE: "A file of the storage cannot be read. Check the disk.",
        .ERROR_WRITE_FILE:
            "A file of the storage cannot be written. Check the disk and its permissions, then download again.",
        .ERROR_ABNORMAL_GATEWAY_INFO: "The gateway's answer cannot be used.",
        .ERROR_PARAM_VALUE: "An argument is missing or cannot be used. Check what was passed.",
        .ERROR_NOT_LOAD:
            "The content is not loaded. Call loadContentURL first, and start the storage before everything else.",
        .ERROR_CANCEL_DOWNLOAD: "The download was cancelled. What came is kept; downloading again goes on behind it.",
        .ERROR_NETWORK: "The network failed. Try again.",
        .ERROR_GET_CONTENTS_LENGTH: "The server announced an impossible length. Tell the provider.",
        .ERROR_GET_ENCODE_LEVEL: "The encoding level cannot be used.",
        .ERROR_GET_MEDIA_URL: "The server redirects without saying where to. Tell the provider.",
        .ERROR_NOT_FOUND_DATA: "Data is missing.",
        .ERROR_NOT_FOUND_ID: "No content has this key or address. Load it, or refresh the list.",
        .ERROR_DECODE_HEADER: "A header of the server cannot be read.",
        .ERROR_STORAGE_FULL:
            "There is not enough room on the disk. Free some space and download again; what came is kept.",
        .ERROR_UPDATE_RECORD: "A record of the storage cannot be changed.",
        .ERROR_REMOVE_CACHE: "The streaming cache cannot be emptied.",
        .ERROR_NOT_FOUND_SNAPSHOT_FILENAME: "The description names no usable still picture.",
        .ERROR_NOT_FOUND_THUMBNAIL_FILENAME: "The description names no usable sheet of pictures.",
        .ERROR_NOT_FOUND_RECORD: "The content has no record any more. Refresh the list.",
        .ERROR_NOT_DOWNLOAD_COMPLETE_ALL: "The content is not complete. Download it first.",
        .ERROR_NOT_DOWNLOAD_TYPE: "The content is not of a kind that is downloaded.",
        .ERROR_ALREADY_DOWNLOADING: "The content is being downloaded already. Wait for its events.",
        .ERROR_DECRYPT_CONTENT_INFO_LINK: "The gateway's description cannot be deciphered.",
        .ERROR_PARSE_CONTENT_INFO_LINK:
            "The gateway's description of the content is not readable. Tell the provider.",
        .ERROR_DECRYPT_COMPANY_AUTH_INFO:
            "The licence server's answer is not a token that verifies. Check the key in the configuration's "
            + "drm member.",
        .ERROR_PARSE_COMPANY_AUTH_INFO: "The licence server's answer is not the JSON that is due. Tell the provider.",
        .ERROR_NOT_VAILD_COMPANY_AUTH_INFO: "The licence server answered a value that cannot be. Tell the provider.",
        .ERROR_NO_USE_CONTENT_URL: "This address cannot be loaded. Pass an http or https link to a content.",
        .ERROR_NOT_EXIST_DOWNLOADED_CONTENTS: "There is no finished download of it. Download it first.",
        .ERROR_NOT_VAILD_DEVICE_TYPE: "The kind of device is not valid.",
        .ERROR_NOT_VAILD_DEVICE_LEVEL: "The level of the device is not valid.",
        .ERROR_DOWNLOADED_EXTRA_BLOCK: "More bytes came than the content has.",
        .ERROR_INIT_NETWORK_LIBRARY: "The network cannot be used.",
        .ERROR_EXPIRATION_DATE:
            "The licence has ended. Renew it with updateDownloadDRMInfo while there is a network.",
        .ERROR_EXPIRATION_COUNT: "The licence's plays are used up. Renew it, or ask the provider.",
        .ERROR_REQUEST_CONTENT_URL: "The content is not complete. Downloading again goes on behind what came.",
        .ERROR_NOT_VAILD_CONTENTS_INFO: "The stored content is damaged. Download it again.",
        .ERROR_CREATE_NO_MEDIA_FILE: "A marker file cannot be made.",
        .ERROR_NOT_REMOVE_TYPE: "A sample is not removed unless that is asked for by name.",
        .ERROR_DECRYPT: "A protected text cannot be read.",
        .ERROR_NOT_ALLOW_DOWNLOAD: "This link does not permit downloading. Ask the provider for a download link.",
        .ERROR_EMPTY_COMPANY_AUTH_INFO:
            "The licence server's answer is empty. Tell the provider: the server probably does not decode the form "
            + "(application/x-www-form-urlencoded) in which the field items comes.",
        .ERROR_EMPTY_CONTENT_INFO: "The gateway's description of the content is empty. Tell the provider.",
        .ERROR_NOT_FOUND_DOMAIN: "The domain is not among those that are permitted.",
        .ERROR_NOT_RECEIVE_DOMAIN: "The server sent no list of domains.",
        .ERROR_ABNORMAL_DRM_INFO: "The licence server does not permit this download. Ask the provider.",
        .ERROR_ABNORMAL_DRM_COMPLETE: "The licence server refuses the completed download. Ask the provider.",
        .ERROR_ABNORMAL_DRM_PLAY: "The licence server does not permit this play. Ask the provider.",
        .ERROR_FORCE_EXPIRED: "The licence was ended by its server. Ask the provider.",
        .ERROR_NOT_RECEIVE_ENC_DATA: "The server sent no protected data.",
        .ERROR_NOT_FOUND_MOBILE_LOGO_FILENAME: "The description names no usable logo.",
        .ERROR_CANNOT_CALL_API: "The storage is closed. Make a new one.",
        .ERROR_NOT_FOUND_THUMBNAIL_URL: "The description has no address of a sheet of pictures.",
        .ERROR_ALTER_TABLE: "The storage's database cannot be brought up to date.",
        .ERROR_DIFFERENT_TIME:
            "The clock of this device cannot be trusted. Correct it, or connect to the network once.",
        .ERROR_EMPTY_POSTER_INFO: "The poster's server answered nothing.",
        .ERROR_PARSE_POSTER_INFO: "The poster's server answered no JSON.",
        .ERROR_NOT_FOUND_POSTER_URL: "The poster's server answered no address.",
        .ERROR_GET_MEDIA_ID: "The content has no media id.",
        .ERROR_NOT_FOUND_SUBTITLE_FILENAME: "The description names no usable subtitle file.",
        .ERROR_EMPTY_PLAY_CALLBACK_INFO: "The play callback's answer is empty.",
        .ERROR_DECRYPT_PLAY_CALLBACK_INFO: "The play callback's answer is not a token that verifies.",
        .ERROR_PARSE_PLAY_CALLBACK_INFO: "The play callback's answer is not the JSON that is due.",
        .ERROR_ABNORMAL_PLAY_CALLBACK_INFO: "The play callback does not permit this play.",
        .ERROR_PLAY_CALLBACK_EXPIRED: "The play callback says that the content has expired.",
        .ERROR_ABNORMAL_PLAY_CALLBACK_INFO_PLAY: "The play callback ends this play.",
        .ERROR_ABNORMAL_POSTER_INFO: "The poster's server answered an error.",
        .ERROR_NOT_RECEIVE_CONTENT_TYPE: "The server does not say what the file is.",
        .ERROR_NOT_RECEIVE_LAST_MODIFIED: "The server does not say when the file was changed.",
        .ERROR_ENCRYPT_KEY: "Stored data cannot be protected. Check the device's key.",
        .ERROR_FORCE_DELETE: "The licence server ordered the content away. Its file is gone; refresh the list.",
        .ERROR_DIFFERENT_EXPIRE_RESET: "The licence server's answer belongs to another question. Tell the provider.",
        .ERROR_NOT_FOUND_DRM_KIND: "The licence server did not answer for this content. Try again.",
        .ERROR_EXPIRATION_PLAY_TIME: "The licence's play time is used up. Renew it, or ask the provider.",
        .ERROR_PLAY_CALLBACK_EXPIRATION_PLAY_TIME: "The play time of this stream is used up.",
        .ERROR_CHECK_EXPIRATION_DATE: "The licence has to be checked first. Connect to the network and renew it.",
        .NOT_FOUND_COMMON_INFO: "The description has no common part.",
        .NOT_FOUND_ITEM_IN_PLAYLIST: "The description's playlist does not have this item.",
        .EMPTY_PLAYLIST_INFO: "The description's playlist is empty.",
        .INTRO_CANNOT_DOWNLOAD: "An intro cannot be downloaded.",
        .DUPLICATION_NETWORK_ERR: "Whether it plays elsewhere cannot be asked. Check the network.",
        .VIDEO_GATEWAY_ABNORMAL_RESPONSE: "The gateway answered an error. Ask the provider.",
        .ERROR_ALREADY_DOWNLOADED: "The content is complete already. Play it.",
    ]
}
