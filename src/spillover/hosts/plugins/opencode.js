// Written by `spill init opencode`, and removed by `spill init opencode --uninstall`.
// What a tool returned goes to `spill hook opencode`; what fits comes back. Whatever fails, the result stays as it was.
// ask.js
const HOST = "opencode"
const TIMEOUT_MS = 30_000
const LONG_ERROR = 2_000 // characters

// An MCP result with `isError` is thrown, and no hook is asked about it. It is bounded where it would be sent, each once.
const errors = new Map()
const MAX_ERRORS = 500

async function boundError(part, directory) {
  const { callID, tool, state } = part
  if (!errors.has(callID)) {
    const answer = await ask({ tool, callID, args: state.input, cwd: directory, content: [{ type: "text", text: state.error }] }, directory)
    const text = answer?.content?.map((block) => block?.text ?? "").join("\n")
    if (errors.size >= MAX_ERRORS) errors.delete(errors.keys().next().value)
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
            part.state = { ...part.state, error: await boundError(part, directory) }
    } catch {
      // the result stays as it was
    }
  },
  "tool.execute.after": async (input, result) => {
    try {
      // A tool of opencode has its text in `output`; one of an MCP server still has its blocks in `content`.
      const blocks = Array.isArray(result?.content)
      if (!(blocks ? result.content.some((block) => mayNeedClipping(block?.text ?? block?.resource?.text)) : mayNeedClipping(result?.output))) return
      const { truncated, outputPath, exit } = result.metadata ?? {}
      const answer = await ask(
        {
          tool: input.tool,
          callID: input.callID,
          args: input.args,
          cwd: directory,
          ...(blocks ? { content: result.content } : { output: result.output, truncated, outputPath, exit }),
        },
        directory,
      )
      if (blocks && Array.isArray(answer?.content)) result.content = answer.content
      if (!blocks && typeof answer?.output === "string") result.output = answer.output
    } catch {
      // the result stays as it was
    }
  },
})
