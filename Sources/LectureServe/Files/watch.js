'use strict'
const video = document.querySelector('video')
const form = document.querySelector('form.play')
const notice = document.getElementById('notice')
const token = form.elements.form_token.value
let play = null, sequence = 0, played = [], start = null, last = 0, speed = 1
let waiting = [], isSending = false, startAt = Number(form.elements.at.value) || 0

function say(answer) {
  notice.textContent = answer.code ? `${answer.message} (code ${answer.code})` : answer.message
}

function seconds(number) { return Math.round(number * 1000) / 1000 }

// Ends the stretch that is being watched.
function cut() {
  if (start !== null && last > start) {
    played.push({from: seconds(start), to: seconds(last), speed})
  }
  start = null
}

function begin() {
  if (start !== null || video.paused || video.seeking) return
  start = last = video.currentTime
  speed = video.playbackRate
}

function report(state) {
  if (!play) return
  const isPlaying = start !== null
  cut()
  if (isPlaying && state === 'playing') begin()
  if (played.length === 0 && state === 'playing') return
  sequence += 1
  const report = {sequence, state, played: played.splice(0, 200)}
  if (Number.isFinite(video.duration) && video.duration > 0) report.duration = seconds(video.duration)
  waiting.push(report)
  send(state === 'closed')
}

async function send(isLast) {
  if (isSending && !isLast) return
  isSending = true
  try {
    while (waiting.length > 0) {
      const answer = await fetch(play.progress, {
        method: 'POST', keepalive: isLast, body: JSON.stringify(waiting[0]),
        headers: {'Content-Type': 'application/json', 'X-Form-Token': token}})
      if (answer.status >= 500) break
      waiting.shift()
      if (answer.status === 403 || answer.status === 404) {
        say(await answer.json())
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
  if (!answer.ok) return say(body)
  play = body
  sequence = 0
  played = []
  waiting = []
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
video.addEventListener('timeupdate', () => {
  if (start === null || video.seeking) return
  // A jump whose event has not come yet is no stretch.
  if (video.currentTime >= last && video.currentTime - last < 2 * Math.max(1, speed)) last = video.currentTime
})
video.addEventListener('seeking', cut)
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
