// Written by `spill init cline`, and taken out again by `spill init cline --uninstall`.
// What a tool returned goes to `spill hook cline`; what fits comes back. Whatever fails, the result stays as it was.
// asked.js
const HOST = "cline"
const PATIENCE_MS = 2_500 // behind 3,000 Cline ends its session

const texts = (value) => (typeof value === "string" ? [value] : value && typeof value === "object" ? Object.values(value).flatMap(texts) : [])

export default {
  name: "spillover",
  manifest: { capabilities: ["hooks"] },
  hooks: {
    afterTool: async ({ tool, toolCall, input, result }) => {
      try {
        if (!texts(result?.output).some(wanted)) return undefined
        const question = { tool: tool?.name, callID: toolCall?.toolCallId, args: input, cwd: process.cwd(), output: result.output }
        const answer = await asked(question, process.cwd())
        return answer && "output" in answer ? { result: { ...result, output: answer.output } } : undefined
      } catch {
        return undefined // as it was
      }
    },
  },
}
