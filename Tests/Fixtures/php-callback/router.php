<?php
// DRM callback of a small online academy. Started with:  php -S 127.0.0.1:8090 router.php
//
//   SECURITY_KEY_FILE  security key of the account
//   USER_KEY           custom key of the account
//   DATA_DIR           licences.json (content key => answer fields) and requests.jsonl (what was asked)
//   RAW_FORM           1: reads the body without decoding the form, as a servlet of the vendor's samples does

$securityKey = file_get_contents(getenv('SECURITY_KEY_FILE'));
$userKey = getenv('USER_KEY');
$dataDir = getenv('DATA_DIR');

function base64url($bytes)
{
    return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
}

function jwt($payload, $key)
{
    $head = base64url(json_encode(['typ' => 'JWT', 'alg' => 'HS256']));
    $body = base64url(json_encode($payload));
    return "$head.$body." . base64url(hash_hmac('sha256', "$head.$body", $key, true));
}

if (getenv('RAW_FORM') === '1') {
    // The samples' servlet takes what stands behind "items=" for JSON; where that fails it answers 200 and nothing.
    $items = json_decode(substr(file_get_contents('php://input'), strlen('items=')));
    if (!is_array($items)) {
        return;
    }
} else {
    $items = json_decode($_POST['items'] ?? '');
}
if (!is_array($items)) {
    http_response_code(500);
    echo 'items?';
    return;
}

$licences = [];
if (is_file("$dataDir/licences.json")) {
    $licences = json_decode(file_get_contents("$dataDir/licences.json"), true);
}

$answers = [];
foreach ($items as $item) {
    $answer = [
        'kind' => $item->kind,
        'media_content_key' => $item->media_content_key,
        'result' => 1,
    ];
    switch ($item->kind) {
        case 1:
            $answer['expiration_date'] = time() + 7 * 24 * 3600;
            $answer['expiration_count'] = 0;
            $answer['expiration_playtime'] = 0;
            $answer['offline_bookmark'] = ['download' => 1, 'readonly' => 1];
            break;
        case 2:
            $answer['content_delete'] = 0;
            break;
        case 3:
            // The samples in JSP cast it to a text: (String) item.get("start_at").
            if (!is_string($item->start_at)) {
                http_response_code(500);
                echo 'java.lang.ClassCastException';
                return;
            }
            $answer['session_key'] = $item->session_key;
            $answer['start_at'] = $item->start_at;
            $answer['expiration_date'] = time() + 14 * 24 * 3600;
            $answer['content_expired'] = 0;
            $answer['content_expire_reset'] = $item->content_expired;
            break;
    }
    $answers[] = array_merge($answer, $licences[$item->media_content_key] ?? []);
    file_put_contents("$dataDir/requests.jsonl", json_encode($item) . "\n", FILE_APPEND | LOCK_EX);
}

header('X-Kollus-UserKey: ' . $userKey);
// One question, one answer: the player asks one by one.
echo jwt(['data' => count($answers) == 1 ? $answers[0] : $answers], $securityKey);
