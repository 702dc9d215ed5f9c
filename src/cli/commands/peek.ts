import { EXIT } from "../../errors.ts";
import { captureScreen, noScreenError, SCREEN_LINES } from "../../operations/capture-screen.ts";
import type { OperationContext } from "../../operations/context.ts";
import { operationContext } from "../../runtime/operation-context.ts";
import { openAddress } from "../../runtime/select-team.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { canDraw } from "../../terminal/terminal-abilities.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { defineCommand } from "../command.ts";
import { countOption } from "../option-values.ts";
import { followScreen } from "../peek-follow.ts";
import { endText, type PeekRenderer, rowRenderer, screenRenderer } from "../peek-renderer.ts";

export const command = defineCommand({
  name: "peek",
  summary: "Print a teammate's screen without going to its pane",
  args: [{ name: "agent", summary: "the member: name or name@team" }],
  options: {
    lines: {
      short: "n",
      value: "lines",
      summary: `how many lines, from the end of the screen (default: ${SCREEN_LINES})`,
    },
    follow: { short: "f", summary: "keep showing the screen until the agent ends" },
  },
  examples: ["teams peek reviewer", "teams peek reviewer -n 200", "teams peek tester -f"],
  async run(call) {
    const { args, options, io, out } = call;
    const open = openAddress(io.env, options, args.agent);
    const { name } = open.member;
    const ctx = await operationContext(call, open);
    const count = countOption(options.lines, "-n") ?? SCREEN_LINES;
    if (options.follow) {
      const isDrawn = io.terminal.stdout && !out.json && canDraw(io.env);
      return watch(call, ctx, name, isDrawn ? screenRenderer(io, out, name) : rowRenderer(out, name), count);
    }
    const lines = await captureScreen(ctx, name, count);
    out.answer({ agent: name, lines }, () => stripControls(lines.join("\n")));
    return EXIT.done;
  },
});

async function watch(
  { io, out }: AnyCall,
  ctx: OperationContext,
  name: string,
  renderer: PeekRenderer,
  rows: number,
): Promise<number> {
  const signal = io.interruption();
  try {
    const end = await followScreen(ctx, name, renderer, { rows, signal });
    if (end.kind === "nowhere") throw await noScreenError(ctx, name);
    if (end.kind === "interrupted") return EXIT.interrupted;
    renderer.close(end.last);
    out.item({ agent: name, end: end.exit ?? null }, () => endText(name, end.exit));
    return EXIT.done;
  } finally {
    renderer.close();
  }
}
