import { join } from "node:path";
import { openTeamSession } from "../backend/team-session.ts";
import { EXIT } from "../errors.ts";
import { createTemporaryDirectory } from "../os/create.ts";
import { runInForeground } from "../os/foreground.ts";
import { removeTree } from "../os/fs.ts";
import { stripControls } from "../os/terminal-text.ts";
import { rootTag } from "../protocol/paths.ts";
import { teamDir } from "../schema/names.ts";
import { chooseServer, tmuxServer } from "../tmux/server.ts";
import { type AnyCall, longName } from "./command.ts";
import type { LeadPlan } from "./lead-process.ts";
import { line } from "./paint.ts";
import { readReport, resultVariable } from "./run-result.ts";
import { homeOf } from "./team.ts";

/** Options that concern the session and not the lead in it. */
const OF_THE_CALLER: ReadonlySet<string> = new Set(["detach", "session", "team", "json"]);

type RunOptions = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/**
 * Leads from the first pane of a detached session of the team's own: attached to in this terminal, with the result
 * printed here when it is over; or left to itself.
 */
export async function leadInSession(
  call: AnyCall & { readonly options: RunOptions; readonly args: { readonly goal: readonly string[] } },
  plan: LeadPlan,
  how: { readonly attach: boolean },
): Promise<number> {
  const { io, out } = call;
  const team = teamDir(plan.team);
  const server = tmuxServer({ socket: chooseServer(io.env), env: io.env });
  const results = createTemporaryDirectory("teams-run-");
  const resultFile = join(results, "result.json");
  const session = await openTeamSession(server, {
    team,
    teamTitle: plan.team,
    rootTag: rootTag(homeOf(io.env).root),
    argv: [...io.program, "run", "--team", team, ...optionWords(call.options), "--", ...call.args.goal],
    env: { ...io.env, ...(how.attach ? resultVariable(resultFile) : {}) },
    ...sizeOf(),
  });
  const attach = `teams attach --team ${team}`;
  if (!how.attach) {
    removeTree(results);
    out.answer(
      { team, session: session.name, attach: session.attach },
      () => line`${team} runs in the tmux session ${session.name}. Go there: ${attach}`,
    );
    return EXIT.done;
  }
  try {
    const [program = "tmux", ...words] = session.attach;
    await runInForeground(program, words, io.env);
    return sayResult(call, resultFile, attach);
  } finally {
    removeTree(results);
  }
}

function sayResult({ out }: AnyCall, file: string, attach: string): number {
  const result = readReport(file);
  if (result === undefined) {
    // Detached by hand, or it ended with an error that its own pane showed.
    out.note(line`The team goes on, if it did not fail: ${attach}`);
    return EXIT.done;
  }
  out.answer(result, () => stripControls(result.result));
  return result.outcome === "completed" ? EXIT.done : EXIT.interrupted;
}

function optionWords(options: RunOptions): string[] {
  return Object.entries(options).flatMap(([key, value]) => {
    if (OF_THE_CALLER.has(key) || value === undefined || value === false) return [];
    const name = `--${longName(key)}`;
    if (value === true) return [name];
    return [value].flat().flatMap((one) => [name, one]);
  });
}

function sizeOf(): { readonly size?: { readonly width: number; readonly height: number } } {
  const { columns, rows } = process.stdout;
  return columns > 0 && rows > 0 ? { size: { width: columns, height: rows } } : {};
}
