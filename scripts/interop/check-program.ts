import type { Installed } from "./install.ts";
import type { Program } from "./program.ts";
import { ADOPTED } from "./rows/adopted.ts";
import { BY_HAND } from "./rows/by-hand.ts";
import { CLIENTS } from "./rows/clients.ts";
import { ENDS } from "./rows/ends.ts";
import { LEAD } from "./rows/lead.ts";
import { LOADED } from "./rows/load.ts";
import { PAUSES } from "./rows/pauses.ts";
import { REQUESTS } from "./rows/requests.ts";
import { type Bench, type Result, type Row, today } from "./rows/row.ts";
import { STARTS } from "./rows/starts.ts";
import { UNDER_CLAUDE } from "./rows/under-claude.ts";
import { WORK } from "./rows/work.ts";
import { Crew, type Member, type Places } from "./team/crew.ts";
import { writeDiagnosis } from "./team/diagnosis.ts";
import { within } from "./team/wait.ts";

/** In the order of the table; `whole` comes last, because it checks what the other rows left. */
export const ROWS: readonly Row[] = [
  ...STARTS,
  ...WORK,
  ...REQUESTS,
  ...PAUSES,
  ...ENDS.slice(0, -1),
  ...BY_HAND,
  ...ADOPTED,
  ...CLIENTS,
  ...LEAD,
  ...UNDER_CLAUDE,
  ...LOADED,
  ...ENDS.slice(-1),
];
/** Milliseconds for a row that names no limit. */
const USUAL_ROW = 75_000;
/** Milliseconds for a row that is known to fail. */
const KNOWN_ROW = 30_000;
/** Milliseconds in which a member must become idle before it is replaced. */
const TO_IDLE = 10_000;

/** Checks one program: each row in turn; a failure never stops the next one. */
export async function checkProgram(
  program: Program,
  { bins }: Installed,
  places: Places,
  rows: readonly Row[],
  report: (result: Result) => void,
): Promise<void> {
  const crew = await Crew.create(program.id, places, [program], bins);
  try {
    const another = (id: string): Promise<Crew> =>
      Crew.create(`${program.id}-${id}`, places, [program], bins);
    const bench = benchOf(crew, program, another);
    for (const row of rows) {
      const result = await resultOf(row, bench);
      report(result);
      if (result.mark === "✗")
        await writeDiagnosis(crew, row.id, result.error ?? result.note ?? "").catch(console.error);
    }
  } finally {
    await crew.teams("kill", "crew", "--force").catch(() => undefined);
    crew.end();
  }
}

async function resultOf(row: Row, bench: Bench): Promise<Result> {
  const { id, text } = row;
  const { notApplicable, knownFailures } = bench.program;
  if (notApplicable?.[id] !== undefined)
    return { row: id, text, mark: "–", note: notApplicable[id], ms: 0, date: today() };
  const known = knownFailures?.[id];
  const begin = performance.now();
  const ms = (): number => Math.round(performance.now() - begin);
  try {
    const limit = known === undefined ? (row.limit ?? USUAL_ROW) : KNOWN_ROW;
    const note = await within(limit, row.run(bench));
    if (known !== undefined)
      console.error(`${bench.program.id}: ${id} passes now; remove it from knownFailures.`);
    return { row: id, text, mark: "✓", ...(typeof note === "string" && { note }), ms: ms(), date: today() };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const reason = known === undefined ? { note: why } : { note: known, error: why };
    return { row: id, text, mark: "✗", ...reason, ms: ms(), date: today() };
  }
}

function benchOf(crew: Crew, program: Program, another: Bench["another"]): Bench {
  const isMember = (name: string): boolean => crew.config().members.some((member) => member.name === name);
  const spawn = async (name: string, prompt: string, ...words: readonly string[]): Promise<string> => {
    // A failed row may have left the member.
    if (isMember(name)) await crew.teams("kill", name, "--force");
    const own = ["--cli", program.cli, "--prompt", prompt, "--teammate-mode", "tmux"];
    return crew.ok("spawn", name, ...own, ...words);
  };
  const tell = (...lines: readonly string[]): Promise<string> => crew.ok("send", "ada", lines.join("\n"));
  const idleAda = async (): Promise<Member | undefined> => {
    const member = await crew.member("ada");
    if (member === undefined || ["crashed", "exited", "failed"].includes(member.state)) return undefined;
    return crew.state("ada", "idle", TO_IDLE).catch(() => undefined);
  };
  const ada = async (): Promise<Member> => {
    const idle = await idleAda();
    if (idle !== undefined) return idle;
    for (const { name } of crew.config().members)
      if (name !== "team-lead") await crew.teams("kill", name, "--force");
    const word = crew.word("ready");
    await spawn("ada", `do-say: ${word}`);
    await crew.turnEnded(word);
    return crew.state("ada", "idle");
  };
  return { crew, program, another, spawn, tell, ada };
}
