import { agentFileFindings } from "../../doctor/agent-files.ts";
import { cliFindings } from "../../doctor/clis.ts";
import { runChecks } from "../../doctor/doctor.ts";
import { attempt, type Finding } from "../../doctor/finding.ts";
import { checkSandbox } from "../../doctor/sandbox.ts";
import { settingsFindings } from "../../doctor/settings.ts";
import { EXIT, TeamError } from "../../errors.ts";
import { rootDirectory, runtimeDirectory } from "../../os/files/app-directories.ts";
import { agentTypesIn } from "../../runtime/agent/load-agent-types.ts";
import { namedTeam } from "../../runtime/select-team.ts";
import { settingsEnv } from "../../settings/settings-env.ts";
import { listTeams } from "../../team/config/config.ts";
import { findTeam } from "../../team/config/find-team.ts";
import { assertTeam } from "../../team/config/team-lock.ts";
import { type Home, teamsHome } from "../../team/ref.ts";
import { line, type Output } from "../../terminal/output.ts";
import { table } from "../../terminal/table.ts";
import { operand } from "../../text/shell-quote.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  name: "doctor",
  ignoresTeamOptions: true,
  summary: "Check tmux, terminal, shell, directories, settings, model access, CLIs and the teams' files",
  args: [
    { name: "name", summary: "check only this team, even if another program created it", optional: true },
  ],
  options: {
    online: { summary: "also ask the model's server whether it accepts the key" },
    fix: { summary: "repair the teams' files, and remove what deleted teams left behind" },
    force: { summary: "with --fix and a name: repair that team even if another program created it" },
  },
  examples: ["teams doctor", "teams doctor --fix", "teams doctor --online --json"],
  notes:
    "The exit status is 1 if a check fails; a warning is not a failure. --fix prints what it repairs. " +
    "The original of a broken file stays in the same directory.",
  async run({ args, options, io, out }) {
    const team = namedTeam(io.env, options, args.name);
    if (team !== undefined) requireTeam(teamsHome(io.env), team, options.fix && !options.force);
    const root = rootDirectory(io.env);
    const examined = await runChecks({
      env: io.env,
      endedTmux: io.endedTmux,
      agentEnv: { ...io.env, ...settingsEnv(root, io.cwd) },
      nodeVersion: process.versions.node,
      isTerminal: io.terminal.stdout,
      root,
      runtime: runtimeDirectory(io.env),
      online: options.online,
      fix: options.fix,
      team,
    });
    const sandbox = await attempt(
      "sandbox",
      () => checkSandbox(root, io.cwd, io.env),
      "Run `bwrap --version`.",
    );
    const agentFiles = await attempt(
      "agents' files",
      async () => agentFileFindings(root, io.cwd, io.env, (await agentTypesIn(root, io.cwd)).problems),
      "Make the files readable, or move them away.",
    );
    const signal = io.interruption();
    const clis = await attempt(
      "CLIs",
      () => cliFindings(root, io.cwd, io.env, signal),
      "Run `teams cli ls`.",
    );
    if (signal.aborted) return EXIT.interrupted;
    const checks = [...examined, ...sandbox, ...settingsFindings(root, io.cwd), ...agentFiles, ...clis];
    const failed = checks.filter(({ level }) => level === "fail").length;
    out.answer({ ok: failed === 0, checks }, () => reportText(checks, out));
    return failed === 0 ? EXIT.done : EXIT.failed;
  },
});

/**
 * Checks that the named team exists.
 * @param onlyOurs whether teams must have created it
 * @throws TeamError TEAM_NOT_FOUND, PERMISSION_DENIED
 */
function requireTeam(home: Home, name: string, onlyOurs: boolean): void {
  const ref = findTeam(home, name);
  assertTeam(ref);
  if (!onlyOurs || listTeams(home).some(({ team, ours }) => team === ref.team && ours)) return;
  throw new TeamError(
    "PERMISSION_DENIED",
    `${ref.team} was created by another program; nothing was changed.`,
    {
      hint: `To repair it anyway: teams doctor --fix --force ${operand(ref.team)}`,
    },
  );
}

const LEVEL_STYLES = { ok: ["good"], warn: ["attention"], fail: ["bold", "bad"] } as const;

function reportText(checks: readonly Finding[], { styleText }: Pick<Output, "styleText">): string {
  const rows = checks.map(({ level, name, text }) => [styleText(level, ...LEVEL_STYLES[level]), name, text]);
  const [, ...lines] = table(["", "", ""], rows).split("\n");
  return lines
    .flatMap((text, i) => {
      const remedy = checks[i]?.remedy;
      return remedy === undefined ? [text] : [text, line`      ${styleText(`→ ${remedy}`, "quiet")}`];
    })
    .join("\n");
}
