/// What a broadcaster does; `*` is a notice.
let streamerTable = """
    idle       | prepare              | getStreamKey | idle key
    idle       | enter                | *80300 | idle
    idle       | enter 7              | *80300 | idle
    idle       | restart 7            | *80300 | idle
    idle       | restart 8            | *80300 | idle
    idle       | start                | *80300 | idle
    idle       | stop                 | *80300 | idle
    idle       | retry                | *80300 | idle
    idle       | exit                 | *80300 | idle
    idle       | exit 8               | *80300 | idle
    key        | key                  | openSource | idle source
    key        | key of a room        | openSource | idle source
    key        | key of an ended room | openSource | idle source
    key        | key failed           | *80400 | idle
    source     | sourceOpened         | *prepared | prepared
    source     | source failed        | *80400 | idle
    prepared   | prepare              | *80401 | prepared
    prepared   | enter                | create 'Algebra' | prepared create
    prepared   | enter 7              | get 7 | prepared fetch
    prepared   | restart 7            | get 7 | prepared fetch
    prepared   | restart 8            | get 8 | prepared fetch
    prepared   | start                | *80401 | prepared
    prepared   | stop                 | *80401 | prepared
    prepared   | retry                | *80401 | prepared
    prepared   | exit                 | closeSource, *closed | closed
    prepared   | exit 8               | end 8 | prepared end
    keyAgain   | key                  | create 'Algebra' | prepared create
    keyAgain   | key of a room        | *exists 5 | prepared
    keyAgain   | key of an ended room | create 'Algebra' | prepared create
    keyAgain   | keyAgain failed      | *80400 | prepared
    create     | room                 | join 7 | prepared join
    create     | ended room           | *80402 | prepared
    create     | create failed        | *80400 | prepared
    fetch      | room                 | join 7 | prepared join
    fetch      | ended room           | *80402 | prepared
    fetch      | fetch failed         | *80400 | prepared
    join       | joined               | events 70 | prepared events
    join       | LIVE                 | *active | prepared join
    join       | INACTIVE             | *inactive | prepared join
    join       | ENDED                | closeEvents, closeSource, *terminated | terminated
    join       | ACTIVE key           | - | prepared join
    join       | join failed          | *80400 | prepared
    events     | channelOpened        | *opened 70 | entered
    events     | LIVE                 | *active | prepared events
    events     | INACTIVE             | *inactive | prepared events
    events     | ENDED                | closeEvents, closeSource, *terminated | terminated
    events     | ACTIVE key           | - | prepared events
    events     | events failed        | closeEvents, *80400 | prepared
    entered    | prepare              | *80401 | entered
    entered    | enter                | *80401 | entered
    entered    | enter 7              | *80401 | entered
    entered    | restart 7            | connect | entered connect
    entered    | restart 8            | *80402 | entered
    entered    | start                | connect | entered connect
    entered    | stop                 | *80401 | entered
    entered    | retry                | connect | entered connect
    entered    | exit                 | leave 7 | entered leave
    entered    | exit 8               | *80402 | entered
    entered    | LIVE                 | *active | entered
    entered    | INACTIVE             | *inactive | entered
    entered    | ENDED                | closeEvents, closeSource, *terminated | terminated
    entered    | ACTIVE key           | - | entered
    entered    | events failed        | *80400 | entered
    connect    | connected            | *started | started
    connect    | LIVE                 | *active | entered connect
    connect    | INACTIVE             | *inactive | entered connect
    connect    | ENDED                | disconnectFeed, closeEvents, closeSource, *terminated | terminated
    connect    | ACTIVE key           | - | entered connect
    connect    | events failed        | *80400 | entered connect
    connect    | connect failed       | *80400 | entered
    started    | prepare              | *80401 | started
    started    | enter                | *80401 | started
    started    | enter 7              | *80401 | started
    started    | restart 7            | *80401 | started
    started    | restart 8            | *80401 | started
    started    | start                | *80401 | started
    started    | stop                 | disconnectFeed | started disconnect
    started    | retry                | *80401 | started
    started    | exit                 | disconnectFeed | started disconnect
    started    | exit 8               | *80402 | started
    started    | lost                 | *lost, connect | started
    started    | LIVE                 | *active | started
    started    | INACTIVE             | *inactive | started
    started    | ENDED                | disconnectFeed, closeEvents, closeSource, *terminated | terminated
    started    | ACTIVE key           | startRoom 7 | started
    started    | events failed        | *80400 | started
    linking    | prepare              | *80401 | started
    linking    | enter                | *80401 | started
    linking    | enter 7              | *80401 | started
    linking    | restart 7            | *80401 | started
    linking    | restart 8            | *80401 | started
    linking    | start                | *80401 | started
    linking    | stop                 | *linked, disconnectFeed | started disconnect
    linking    | exit                 | *linked, disconnectFeed | started disconnect
    linking    | exit 8               | *80402 | started
    linking    | connected            | *linked | started
    linking    | LIVE                 | *active | started
    linking    | INACTIVE             | *inactive | started
    linking    | ENDED                | *linked, disconnectFeed, closeEvents, closeSource, *terminated | terminated
    linking    | ACTIVE key           | startRoom 7 | started
    linking    | events failed        | *80400 | started
    linking    | connect failed       | wait 1000 | started
    waiting    | prepare              | *80401 | started
    waiting    | enter                | *80401 | started
    waiting    | enter 7              | *80401 | started
    waiting    | restart 7            | *80401 | started
    waiting    | restart 8            | *80401 | started
    waiting    | start                | *80401 | started
    waiting    | stop                 | *linked, disconnectFeed | started disconnect
    waiting    | retry                | connect | started
    waiting    | exit                 | *linked, disconnectFeed | started disconnect
    waiting    | exit 8               | *80402 | started
    waiting    | LIVE                 | *active | started
    waiting    | INACTIVE             | *inactive | started
    waiting    | ENDED                | *linked, disconnectFeed, closeEvents, closeSource, *terminated | terminated
    waiting    | ACTIVE key           | startRoom 7 | started
    waiting    | time                 | wait 1000 | started
    waiting    | events failed        | *80400 | started
    disconnect | disconnected         | *stopped | stopped
    disconnect | LIVE                 | *active | started disconnect
    disconnect | INACTIVE             | *inactive | started disconnect
    disconnect | ENDED                | disconnectFeed, closeEvents, closeSource, *terminated | terminated
    disconnect | ACTIVE key           | - | started disconnect
    disconnect | events failed        | *80400 | started disconnect
    disconnect | disconnect failed    | *80400 | started
    stopped    | prepare              | *80401 | stopped
    stopped    | enter                | *80401 | stopped
    stopped    | enter 7              | *80401 | stopped
    stopped    | restart 7            | connect | stopped connect
    stopped    | restart 8            | *80402 | stopped
    stopped    | start                | connect | stopped connect
    stopped    | stop                 | *80401 | stopped
    stopped    | retry                | connect | stopped connect
    stopped    | exit                 | leave 7 | stopped leave
    stopped    | exit 8               | *80402 | stopped
    stopped    | LIVE                 | *active | stopped
    stopped    | INACTIVE             | *inactive | stopped
    stopped    | ENDED                | closeEvents, closeSource, *terminated | terminated
    stopped    | ACTIVE key           | - | stopped
    stopped    | events failed        | *80400 | stopped
    leave      | left                 | end 7 | stopped end
    leave      | LIVE                 | *active | stopped leave
    leave      | INACTIVE             | *inactive | stopped leave
    leave      | ENDED                | - | stopped leave
    leave      | ACTIVE key           | - | stopped leave
    leave      | leave failed         | *80400 | stopped
    end        | roomEnded            | closeEvents, closeSource, *closed | closed
    end        | LIVE                 | *active | stopped end
    end        | INACTIVE             | *inactive | stopped end
    end        | ENDED                | - | stopped end
    end        | ACTIVE key           | - | stopped end
    end        | end failed           | get 7 | stopped endCheck
    endCheck   | room                 | wait 200 | stopped end
    endCheck   | ended room           | closeEvents, closeSource, *closed | closed
    endCheck   | LIVE                 | *active | stopped endCheck
    endCheck   | INACTIVE             | *inactive | stopped endCheck
    endCheck   | ENDED                | - | stopped endCheck
    endCheck   | ACTIVE key           | - | stopped endCheck
    endCheck   | endCheck failed      | *80409 | stopped
    endWait    | roomEnded            | closeEvents, closeSource, *closed | closed
    endWait    | LIVE                 | *active | stopped end
    endWait    | INACTIVE             | *inactive | stopped end
    endWait    | ENDED                | - | stopped end
    endWait    | ACTIVE key           | - | stopped end
    endWait    | time                 | wait 200 | stopped end
    closed     | prepare              | *80401 | closed
    closed     | enter                | *80401 | closed
    closed     | enter 7              | *80401 | closed
    closed     | restart 7            | *80401 | closed
    closed     | restart 8            | *80401 | closed
    closed     | start                | *80401 | closed
    closed     | stop                 | *80401 | closed
    closed     | retry                | *80401 | closed
    closed     | exit                 | *80401 | closed
    closed     | exit 8               | *80401 | closed
    terminated | prepare              | *80401 | terminated
    terminated | enter                | *80401 | terminated
    terminated | enter 7              | *80401 | terminated
    terminated | restart 7            | *80401 | terminated
    terminated | restart 8            | *80401 | terminated
    terminated | start                | *80401 | terminated
    terminated | stop                 | *80401 | terminated
    terminated | retry                | *80401 | terminated
    terminated | exit                 | *80401 | terminated
    terminated | exit 8               | *80401 | terminated
    """
