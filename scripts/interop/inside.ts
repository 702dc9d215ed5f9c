/** `inside <plan.json>`: the isolated part. Runs the checks of the plan, and prints each result as one line of JSON. */
import { readFileSync } from "node:fs";
import { checkProgram, ROWS } from "./check-program.ts";
import { MIXED, mixedTeam } from "./mixed-team.ts";
import type { Plan, Report } from "./plan.ts";
import { PROGRAMS } from "./programs.ts";
import { firstLine } from "./team/crew.ts";
import { setPatience } from "./team/wait.ts";

const plan = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as Plan;
setPatience(plan.patience);

for (const installed of plan.installed) {
  const program = PROGRAMS.find(({ id }) => id === installed.id);
  if (program === undefined || !plan.chosen.includes(program.id)) continue;
  const checked = plan.checked[program.id] ?? [];
  const isAsked = (id: string): boolean => plan.rows.length === 0 || plan.rows.includes(id);
  const rows = ROWS.filter(({ id }) => isAsked(id) && !checked.includes(id));
  if (rows.length === 0) continue;
  const say = (report: Omit<Report, "id">): void =>
    console.log(JSON.stringify({ id: program.id, ...report }));
  try {
    await checkProgram(program, installed, plan, rows, (result) => say({ result }));
  } catch (error) {
    say({ broken: firstLine(error instanceof Error ? (error.stack ?? error.message) : String(error)) });
  }
}
if (plan.chosen.includes(MIXED)) {
  const result = await mixedTeam(plan.installed, plan, plan.picture);
  console.log(JSON.stringify({ id: MIXED, result } satisfies Report));
}
process.exit(0);
