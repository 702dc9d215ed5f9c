import { examine } from "../../doctor/doctor.ts";
import type { Finding } from "../../doctor/finding.ts";
import { EXIT } from "../../errors.ts";
import { rootDirectory, runtimeDirectory } from "../../os/directories.ts";
import { defineCommand } from "../command.ts";
import type { Output } from "../output.ts";
import { line } from "../paint.ts";
import { table } from "../table.ts";

export const command = defineCommand({
  name: "doctor",
  summary: "Check tmux, terminal, shell, directories and model access",
  args: [],
  options: {
    online: { summary: "ask the model's server too, whether it takes the key" },
    fix: { summary: "remove what teams that are no more left behind" },
  },
  examples: ["teams doctor", "teams doctor --online", "teams doctor --json"],
  notes: "It ends with 1 when something fails; a warning is no failure.",
  async run({ options, io, out }) {
    const checks = await examine({
      env: io.env,
      nodeVersion: process.versions.node,
      isTerminal: io.terminal.stdout,
      root: rootDirectory(io.env),
      runtime: runtimeDirectory(io.env),
      online: options.online,
      fix: options.fix,
    });
    const failed = checks.filter(({ level }) => level === "fail").length;
    out.answer({ ok: failed === 0, checks }, () => reportText(checks, out));
    return failed === 0 ? EXIT.done : EXIT.failed;
  },
});

const LEVEL_TINTS = { ok: ["good"], warn: ["attention"], fail: ["bold", "bad"] } as const;

function reportText(checks: readonly Finding[], { paint }: Pick<Output, "paint">): string {
  const rows = checks.map(({ level, name, text }) => [paint(level, ...LEVEL_TINTS[level]), name, text]);
  const [, ...lines] = table(["", "", ""], rows).split("\n");
  return lines
    .flatMap((text, i) => {
      const remedy = checks[i]?.remedy;
      return remedy === undefined ? [text] : [text, line`      ${paint(`→ ${remedy}`, "quiet")}`];
    })
    .join("\n");
}
