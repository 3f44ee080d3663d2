/// What a viewer does; `*` is a notice.
let livePlayerTable = """
    idle      | prepare        | open u2, wait 10000 | idle
    idle      | enter          | *80300 | idle
    idle      | start          | *80300 | idle
    idle      | stop           | *80300 | idle
    idle      | exit           | *closed | closed
    opening   | prepare        | *80401 | idle
    opening   | enter          | join 7 | idle joining
    opening   | start          | - | idle
    opening   | stop           | closePicture, *stopped | stopped
    opening   | exit           | closePicture, *closed | closed
    opening   | ready          | *prepared | prepared
    opening   | unplayable     | *80104 | idle
    opening   | time           | wait 10000 | idle
    prepared  | prepare        | *80401 | prepared
    prepared  | enter          | join 7 | prepared joining
    prepared  | start          | playPicture, wait 10000 | prepared
    prepared  | stop           | closePicture, *stopped | stopped
    prepared  | exit           | closePicture, *closed | closed
    prepared  | stalled        | wait 10000 | prepared
    prepared  | unplayable     | *80104, wait 10000 | prepared
    joining   | prepare        | *80401 | prepared joining
    joining   | enter          | *80401 | prepared joining
    joining   | start          | playPicture, wait 10000 | prepared joining
    joining   | stop           | closePicture, *stopped | stopped joining
    joining   | exit           | closePicture, leave 7 | prepared leaving
    joining   | joined         | events 70 | prepared opening
    joining   | stalled        | wait 10000 | prepared joining
    joining   | unplayable     | *80104, wait 10000 | prepared joining
    joining   | join failed    | *80400 | prepared
    events    | prepare        | *80401 | prepared opening
    events    | enter          | *80401 | prepared opening
    events    | start          | playPicture, wait 10000 | prepared opening
    events    | stop           | closePicture, *stopped | stopped opening
    events    | exit           | closePicture, closeEvents, leave 7 | prepared leaving
    events    | channelOpened  | *opened 70, get 7 | prepared open
    events    | LIVE           | *active | prepared opening
    events    | LIVE elsewhere | *active, *u2, open u2, wait 10000 | prepared opening
    events    | INACTIVE       | *inactive | prepared opening
    events    | ENDED          | closePicture, *completed | completed opening
    events    | stalled        | wait 10000 | prepared opening
    events    | unplayable     | *80104, wait 10000 | prepared opening
    events    | events failed  | *80400 | prepared
    open      | prepare        | *80401 | prepared open
    open      | enter          | *80401 | prepared open
    open      | start          | playPicture, wait 10000 | prepared open
    open      | stop           | closePicture, *stopped | stopped open
    open      | exit           | closePicture, closeEvents, leave 7 | prepared leaving
    open      | room           | *active | prepared open
    open      | room elsewhere | *active, *u2, open u2, wait 10000 | prepared open
    open      | ended room     | closePicture, *completed | completed open
    open      | LIVE           | *active | prepared open
    open      | LIVE elsewhere | *active, *u2, open u2, wait 10000 | prepared open
    open      | INACTIVE       | *inactive | prepared open
    open      | ENDED          | closePicture, *completed | completed open
    open      | stalled        | wait 10000 | prepared open
    open      | unplayable     | *80104, wait 10000 | prepared open
    open      | events failed  | *80400 | prepared
    open      | fetch failed   | *80400 | prepared open
    starting  | prepare        | *80401 | prepared open
    starting  | enter          | *80401 | prepared open
    starting  | start          | playPicture, wait 10000 | prepared open
    starting  | stop           | closePicture, *stopped | stopped open
    starting  | exit           | closePicture, closeEvents, leave 7 | prepared leaving
    starting  | room           | *active | prepared open
    starting  | room elsewhere | *active, *u2, open u2, wait 10000 | prepared open
    starting  | ended room     | closePicture, *completed | completed open
    starting  | LIVE           | *active | prepared open
    starting  | LIVE elsewhere | *active, *u2, open u2, wait 10000 | prepared open
    starting  | INACTIVE       | *inactive | prepared open
    starting  | ENDED          | closePicture, *completed | completed open
    starting  | plays          | *started | started open
    starting  | unplayable     | *80104 | prepared open
    starting  | time           | wait 10000 | prepared open
    starting  | events failed  | *80400 | prepared
    starting  | fetch failed   | *80400 | prepared open
    started   | prepare        | *80401 | started open
    started   | enter          | *80401 | started open
    started   | start          | *80401 | started open
    started   | stop           | closePicture, *stopped | stopped open
    started   | exit           | closePicture, closeEvents, leave 7 | started leaving
    started   | room           | *active | started open
    started   | room elsewhere | *active, *u2, *paused, open u2, wait 10000 | paused open
    started   | ended room     | closePicture, *completed | completed open
    started   | LIVE           | *active | started open
    started   | LIVE elsewhere | *active, *u2, *paused, open u2, wait 10000 | paused open
    started   | INACTIVE       | *inactive | started open
    started   | ENDED          | closePicture, *completed | completed open
    started   | stalled        | *paused, get 7, wait 10000 | paused open
    started   | unplayable     | *80104, *paused, get 7, wait 10000 | paused open
    started   | events failed  | *80400 | started
    started   | fetch failed   | *80400 | started open
    paused    | prepare        | *80401 | paused open
    paused    | enter          | *80401 | paused open
    paused    | start          | *80401 | paused open
    paused    | stop           | closePicture, *stopped | stopped open
    paused    | exit           | closePicture, closeEvents, leave 7 | paused leaving
    paused    | room           | *active | paused open
    paused    | room elsewhere | *active, *u2, open u2, wait 10000 | paused open
    paused    | ended room     | closePicture, *completed | completed open
    paused    | LIVE           | *active | paused open
    paused    | LIVE elsewhere | *active, *u2, open u2, wait 10000 | paused open
    paused    | INACTIVE       | *inactive | paused open
    paused    | ENDED          | closePicture, *completed | completed open
    paused    | plays          | *started | started open
    paused    | unplayable     | *80104 | paused open
    paused    | time           | wait 10000 | paused open
    paused    | events failed  | *80400 | paused
    paused    | fetch failed   | *80400 | paused open
    inactive  | prepare        | *80401 | started open
    inactive  | enter          | *80401 | started open
    inactive  | start          | *80401 | started open
    inactive  | stop           | closePicture, *stopped | stopped open
    inactive  | exit           | closePicture, closeEvents, leave 7 | started leaving
    inactive  | room           | *active | started open
    inactive  | room elsewhere | *active, *u2, *paused, open u2, wait 10000 | paused open
    inactive  | ended room     | closePicture, *completed | completed open
    inactive  | LIVE           | *active | started open
    inactive  | LIVE elsewhere | *active, *u2, *paused, open u2, wait 10000 | paused open
    inactive  | ENDED          | closePicture, *completed | completed open
    inactive  | stalled        | *paused, get 7 | paused open
    inactive  | unplayable     | *80104, *paused, get 7 | paused open
    inactive  | events failed  | *80400 | started
    inactive  | fetch failed   | *80400 | started open
    stopped   | prepare        | *80401 | stopped open
    stopped   | enter          | *80401 | stopped open
    stopped   | start          | open u1, wait 10000 | stopped open
    stopped   | stop           | *80401 | stopped open
    stopped   | exit           | closeEvents, leave 7 | stopped leaving
    stopped   | room           | *active | stopped open
    stopped   | room elsewhere | *active, *u2 | stopped open
    stopped   | ended room     | *completed | completed open
    stopped   | LIVE           | *active | stopped open
    stopped   | LIVE elsewhere | *active, *u2 | stopped open
    stopped   | INACTIVE       | *inactive | stopped open
    stopped   | ENDED          | *completed | completed open
    stopped   | events failed  | *80400 | stopped
    stopped   | fetch failed   | *80400 | stopped open
    completed | prepare        | *80401 | completed open
    completed | enter          | *80401 | completed open
    completed | start          | *80401 | completed open
    completed | stop           | *80401 | completed open
    completed | exit           | closeEvents, leave 7 | completed leaving
    completed | events failed  | *80400 | completed
    completed | fetch failed   | *80400 | completed open
    leaving   | prepare        | *80401 | started leaving
    leaving   | enter          | *80401 | started leaving
    leaving   | start          | *80401 | started leaving
    leaving   | stop           | *80401 | started leaving
    leaving   | exit           | *80401 | started leaving
    leaving   | left           | *closed | closed
    leaving   | leave failed   | *80400, *closed | closed
    closed    | prepare        | *80401 | closed
    closed    | enter          | *80401 | closed
    closed    | start          | *80401 | closed
    closed    | stop           | *80401 | closed
    closed    | exit           | *80401 | closed
    """
