// Written by `spill init pi`, and removed by `spill init pi --uninstall`.
// What a tool returned goes to `spill hook pi`; what fits comes back. Whatever fails, the result stays as it was.
// ask.js
const HOST = "pi"
const TIMEOUT_MS = 30_000

export default function (pi) {
  pi.on("tool_result", async (event, context) => {
    try {
      if (!Array.isArray(event?.content) || !event.content.some((block) => mayNeedClipping(block?.text))) return undefined
      const directory = context?.cwd ?? process.cwd()
      const answer = await ask(
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
      return undefined // the result stays as it was
    }
  })
}
