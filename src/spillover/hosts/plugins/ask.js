import { spawn } from "node:child_process"

const MIN_CHARS = 100 // no limit is below that
const LIKE_A_NOTICE = /[[({<\]]|[^\x00-\x7f]/ // in a short text that may read like a notice of ours

function ask(question, directory) {
  return new Promise((done) => {
    const child = spawn("spill", ["hook", HOST], { cwd: directory, stdio: ["pipe", "pipe", "ignore"] })
    const chunks = []
    const finish = (answer) => {
      clearTimeout(timer)
      done(answer)
    }
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      child.stdout.destroy() // a process of its own may hold it open
      finish(null)
    }, TIMEOUT_MS)
    child.on("error", () => finish(null))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (chunk) => chunks.push(chunk))
    child.on("close", (code) => {
      try {
        finish(code === 0 && chunks.length ? JSON.parse(Buffer.concat(chunks).toString("utf8")) : null)
      } catch {
        finish(null)
      }
    })
    child.stdin.end(JSON.stringify(question))
  })
}

const mayNeedClipping = (text) => typeof text === "string" && (text.length > MIN_CHARS || LIKE_A_NOTICE.test(text))
