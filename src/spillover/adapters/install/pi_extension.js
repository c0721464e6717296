// Written by `spill init pi`, and taken out again by `spill init pi --uninstall`.
// What a tool returned goes to `spill hook pi`; what fits comes back. Whatever fails, the result stays as it was.
import { spawn } from "node:child_process"

const PATIENCE_MS = 30_000
const SMALLEST = 100 // characters; below that no limit can be
const LIKE_A_NOTICE = /[[({<\]]|[^\x00-\x7f]/ // what a short text has that may read like a notice of ours

function asked(question, directory) {
  return new Promise((done) => {
    const child = spawn("spill", ["hook", "pi"], { cwd: directory, stdio: ["pipe", "pipe", "ignore"] })
    const said = []
    const patience = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS)
    const ended = (answer) => {
      clearTimeout(patience)
      done(answer)
    }
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

export default function (pi) {
  pi.on("tool_result", async (event, context) => {
    try {
      if (!Array.isArray(event?.content) || !event.content.some((block) => wanted(block?.text))) return undefined
      const directory = context?.cwd ?? process.cwd()
      const answer = await asked(
        {
          tool: event.toolName,
          callID: event.toolCallId,
          args: event.input,
          cwd: directory,
          content: event.content,
          fullOutputPath: event.details?.fullOutputPath,
        },
        directory,
      )
      return Array.isArray(answer?.content) ? { content: answer.content } : undefined
    } catch {
      return undefined // as it was
    }
  })
}
