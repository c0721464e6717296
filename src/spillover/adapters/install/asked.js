import { spawn } from "node:child_process"

const SMALLEST = 100 // characters; below that no limit can be
const LIKE_A_NOTICE = /[[({<\]]|[^\x00-\x7f]/ // what a short text has that may read like a notice of ours

function asked(question, directory) {
  return new Promise((done) => {
    const child = spawn("spill", ["hook", HOST], { cwd: directory, stdio: ["pipe", "pipe", "ignore"] })
    const said = []
    const ended = (answer) => {
      clearTimeout(patience)
      done(answer)
    }
    const patience = setTimeout(() => {
      child.kill("SIGKILL")
      child.stdout.destroy() // a process of its own may hold it open
      ended(null)
    }, PATIENCE_MS)
    child.on("error", () => ended(null))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (chunk) => said.push(chunk))
    child.on("close", (code) => {
      try {
        ended(code === 0 && said.length ? JSON.parse(Buffer.concat(said).toString("utf8")) : null)
      } catch {
        ended(null)
      }
    })
    child.stdin.end(JSON.stringify(question))
  })
}

const wanted = (text) => typeof text === "string" && (text.length > SMALLEST || LIKE_A_NOTICE.test(text))
