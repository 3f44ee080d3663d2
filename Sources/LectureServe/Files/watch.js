'use strict'
const video = document.querySelector('video')
const form = document.querySelector('form.play')
const notice = document.getElementById('notice')
const token = form.elements.form_token.value
let play = null, sequence = 0, played = [], start = null, last = 0, seenAt = 0, speed = 1
let waiting = [], isSending = false, startAt = Number(form.elements.at.value) || 0

function say(answer, response) {
  const parts = {'{0}': answer.message, '{1}': answer.code}
  notice.lang = response.headers.get('Content-Language') || 'en'
  notice.textContent = answer.code ? notice.dataset.code.replace(/\{[01]\}/g, (part) => parts[part]) : answer.message
}

function seconds(number) { return Math.round(number * 1000) / 1000 }

// Follows the position, however late the events come. A position further on than the time that has gone by is a
// jump whose event has not come yet.
function follow() {
  if (start === null || video.seeking) return
  const now = performance.now() / 1000, most = (now - seenAt) * speed + 0.5
  seenAt = now
  if (video.currentTime >= last && video.currentTime - last <= most) last = video.currentTime
}

// Ends the stretch that is being watched, where the player is now.
function cut() {
  follow()
  end()
}

// Ends it where the player was last.
function end() {
  // Rounded, since one of nothing would spoil its report.
  if (start !== null && seconds(last) > seconds(start)) {
    played.push({from: seconds(start), to: seconds(last), speed})
  }
  start = null
}

function begin() {
  if (start !== null || video.paused || video.seeking) return
  // Where the last one has ended, or a jump has led to, however late this event comes.
  start = last
  last = video.currentTime
  seenAt = performance.now() / 1000
  speed = video.playbackRate
}

function report(state) {
  if (!play) return
  const isPlaying = start !== null
  cut()
  if (isPlaying && state === 'playing') start = last
  if (played.length === 0 && state === 'playing') return
  sequence += 1
  const report = {sequence, state, played: played.splice(0, 200)}
  if (Number.isFinite(video.duration) && video.duration > 0) report.duration = seconds(video.duration)
  waiting.push(report)
  if (state === 'closed') sendLast()
  else send()
}

// A report that is on its way arrives, even if the page is left meanwhile.
function post(report) {
  return fetch(play.progress, {
    method: 'POST', keepalive: true, body: JSON.stringify(report),
    headers: {'Content-Type': 'application/json', 'X-Form-Token': token}})
}

// Nothing waits for an answer any more: one report has all that was not sent yet.
function sendLast() {
  const unsent = waiting.slice(isSending ? 1 : 0)
  const report = unsent[unsent.length - 1]
  report.played = unsent.flatMap((one) => one.played).slice(-200)
  waiting = []
  post(report).catch(() => {})
}

async function send() {
  if (isSending) return
  isSending = true
  try {
    while (waiting.length > 0) {
      const answer = await post(waiting[0])
      if (answer.status >= 500) break
      waiting.shift()
      if (answer.status === 403 || answer.status === 404) {
        say(await answer.json(), answer)
        video.pause()
        waiting = []
        play = null
        form.hidden = false
        break
      }
    }
  } catch (error) {
    // No connection: the next report sends it again.
  } finally {
    isSending = false
  }
}

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  notice.textContent = ''
  const answer = await fetch(form.action, {
    method: 'POST', headers: {'Accept': 'application/json', 'X-Form-Token': token}})
  const body = await answer.json()
  if (!answer.ok) return say(body, answer)
  play = body
  sequence = 0
  played = []
  waiting = []
  start = null
  last = 0
  form.hidden = true
  video.src = play.url
  video.play().catch(() => {})
})

video.addEventListener('loadedmetadata', () => {
  if (startAt > 0 && startAt < video.duration - 1) video.currentTime = startAt
  startAt = 0
})
video.addEventListener('playing', begin)
video.addEventListener('seeked', begin)
video.addEventListener('timeupdate', follow)
video.addEventListener('seeking', () => {
  end()
  last = video.currentTime
})
video.addEventListener('ratechange', () => { cut(); begin() })
video.addEventListener('pause', () => report(video.ended ? 'ended' : 'paused'))
video.addEventListener('error', () => {
  cut()
  if (play) report('paused')
})
setInterval(() => { if (play && !video.paused) report('playing') }, 5000)
window.addEventListener('pagehide', () => report('closed'))

for (const link of document.querySelectorAll('a[data-at]')) {
  link.addEventListener('click', (event) => {
    if (!play) return
    event.preventDefault()
    video.currentTime = Number(link.dataset.at)
    video.focus()
  })
}
