// Written by `spill init opencode`, and taken out again by `spill init opencode --uninstall`.
// What a tool returned goes to `spill hook opencode`; what fits comes back. Whatever fails, the result stays as it was.
import { spawn } from "node:child_process"

const PATIENCE_MS = 30_000
const SMALLEST = 100 // characters; below that no limit can be

function asked(question, directory) {
  return new Promise((done) => {
    const child = spawn("spill", ["hook", "opencode"], { cwd: directory, stdio: ["pipe", "pipe", "ignore"] })
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

const long = (text) => typeof text === "string" && text.length > SMALLEST

export const Spillover = async ({ directory }) => ({
  "tool.execute.after": async (input, result) => {
    try {
      // A tool of opencode has its text in `output`; one of an MCP server still has its blocks in `content`.
      const blocks = Array.isArray(result?.content)
      if (!(blocks ? result.content.some((block) => long(block?.text ?? block?.resource?.text)) : long(result?.output))) return
      const { truncated, outputPath } = result.metadata ?? {}
      const answer = await asked(
        {
          tool: input.tool,
          callID: input.callID,
          args: input.args,
          cwd: directory,
          ...(blocks ? { content: result.content } : { output: result.output, truncated, outputPath }),
        },
        directory,
      )
      if (blocks && Array.isArray(answer?.content)) result.content = answer.content
      if (!blocks && typeof answer?.output === "string") result.output = answer.output
    } catch {
      // as it was
    }
  },
})
