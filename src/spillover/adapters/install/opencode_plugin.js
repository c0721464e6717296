// Written by `spill init opencode`, and taken out again by `spill init opencode --uninstall`.
// What a tool returned goes to `spill hook opencode`; what fits comes back. Whatever fails, the result stays as it was.
import { spawn } from "node:child_process"

const PATIENCE_MS = 30_000
const SMALLEST = 100 // characters; below that no limit can be
const LONG_ERROR = 2_000 // characters; what is thrown is short, as a rule
const LIKE_A_NOTICE = /[[({<\]]|[^\x00-\x7f]/ // what a short text has that may read like a notice of ours

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

const wanted = (text) => typeof text === "string" && (text.length > SMALLEST || LIKE_A_NOTICE.test(text))

// An MCP result with `isError` is thrown, and no hook is asked about it. It is bounded where it would be sent, each once.
const errors = new Map()
const MOST_ERRORS = 500

async function bounded(part, directory) {
  const { callID, tool, state } = part
  if (!errors.has(callID)) {
    const answer = await asked({ tool, callID, args: state.input, cwd: directory, content: [{ type: "text", text: state.error }] }, directory)
    const text = answer?.content?.map((block) => block?.text ?? "").join("\n")
    if (errors.size >= MOST_ERRORS) errors.delete(errors.keys().next().value)
    errors.set(callID, text || state.error)
  }
  return errors.get(callID)
}

export const Spillover = async ({ directory }) => ({
  "experimental.chat.messages.transform": async (_, output) => {
    try {
      for (const { parts } of output?.messages ?? [])
        for (const part of parts ?? [])
          if (part?.type === "tool" && part.state?.status === "error" && part.state.error?.length > LONG_ERROR)
            part.state = { ...part.state, error: await bounded(part, directory) }
    } catch {
      // as it was
    }
  },
  "tool.execute.after": async (input, result) => {
    try {
      // A tool of opencode has its text in `output`; one of an MCP server still has its blocks in `content`.
      const blocks = Array.isArray(result?.content)
      if (!(blocks ? result.content.some((block) => wanted(block?.text ?? block?.resource?.text)) : wanted(result?.output))) return
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
