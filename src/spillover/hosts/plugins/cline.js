// Written by `spill init cline`, and removed by `spill init cline --uninstall`.
// What a tool returned goes to `spill hook cline`; what fits comes back. Whatever fails, the result stays as it was.
// ask.js
const HOST = "cline"
const TIMEOUT_MS = 2_500 // behind 3,000 Cline ends its session

const texts = (value) => (typeof value === "string" ? [value] : value && typeof value === "object" ? Object.values(value).flatMap(texts) : [])

export default {
  name: "spillover",
  manifest: { capabilities: ["hooks"] },
  hooks: {
    afterTool: async ({ tool, toolCall, input, result }) => {
      try {
        if (!texts(result?.output).some(mayNeedClipping)) return undefined
        const question = { tool: tool?.name, callID: toolCall?.toolCallId, args: input, cwd: process.cwd(), output: result.output }
        const answer = await ask(question, process.cwd())
        return answer && "output" in answer ? { result: { ...result, output: answer.output } } : undefined
      } catch {
        return undefined // the result stays as it was
      }
    },
  },
}
