import { resolve } from "node:path";
import { defaultModelName, SCRIPTED } from "../../agent/model/model-names.ts";
import { TeamError } from "../../errors.ts";
import { requireValidTools } from "../../operations/spawn/tool-limits.ts";
import { NEEDS_LOGIN } from "../../runtime/acp/rpc-errors.ts";
import type { SessionChoice } from "../../runtime/acp/sessions.ts";
import { playbooksDirectory } from "../../runtime/agent/models.ts";
import { openBackends } from "../../runtime/backends.ts";
import type { LeadPlan } from "../../runtime/lead/lead.ts";
import { defined } from "../../schema/defined.ts";
import { loadSettings } from "../../settings/settings.ts";
import { teamsHome } from "../../team/ref.ts";
import { DEBUG_VARIABLE } from "../../telemetry/debug-flag.ts";
import type { Call } from "../../terminal/call.ts";
import { optionWords } from "../../text/shell-quote.ts";
import { toolLimits } from "../tool-options.ts";
import type { ACP_ARGS, ACP_OPTIONS } from "./acp-options.ts";
import { ownLead } from "./own-lead.ts";
import { teamToResume } from "./resumed-team.ts";

type AcpCall = Call<typeof ACP_ARGS, typeof ACP_OPTIONS>;

/**
 * Checks the options of `teams acp` for one session, in the session's directory. A session has no goal: its prompts come later.
 * @throws TeamError INVALID_INPUT, INVALID_MODEL, TEAM_NOT_FOUND, PERMISSION_DENIED
 */
export async function planSession(
  { options, io }: AcpCall,
  { call, team, isResumed }: SessionChoice,
): Promise<LeadPlan> {
  const { env, program, cwd } = call.io;
  const settings = loadSettings(teamsHome(env).root, cwd);
  const resumed = isResumed ? teamToResume(env, { team }) : undefined;
  if (resumed?.cli !== undefined) throw ledByCli(resumed.team, resumed.cli.name);
  const given =
    options.playbook === undefined ? options.model : `${SCRIPTED}:${resolve(io.cwd, options.playbook)}`;
  const named = given ?? resumed?.model ?? defaultModelName({ ...env, ...settings.env });
  if (named === SCRIPTED) throw noModel();
  const { model, budget } = ownLead({ options, io }, named, settings);
  const limits = { ...resumed?.limits, ...toolLimits({ name: "acp", args: [] }, options) };
  requireValidTools("the lead", limits);
  const mode = options.teammateMode ?? settings.teammateMode;
  await openBackends(env).choose(mode, "run");
  const delegate = options.permissionMode === "delegate";
  return {
    team: resumed?.team ?? team,
    goal: "",
    ...(resumed === undefined
      ? {}
      : { resumes: { teammateMode: options.teammateMode, wasByHand: resumed.wasByHand } }),
    model,
    cli: undefined,
    mode: delegate ? undefined : options.permissionMode,
    delegate,
    promptOverrides: defined({ override: options.systemPrompt, append: options.appendSystemPrompt }),
    limits,
    spawn: { command: "run", placement: env.TMUX ? "team-window" : "session", mode },
    once: false,
    keep: true,
    remove: false,
    resumable: true,
    budget,
    sidebar: false,
    env: {
      ...(options.debug ? { [DEBUG_VARIABLE]: "1" } : {}),
      // The agent works without team tools, see areTeamsOff.
      ...(options.agent ? { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: "0" } : {}),
      TEAMS_PLAYBOOKS: playbooksDirectory(program),
    },
  };
}

function noModel(): TeamError {
  return new TeamError("INVALID_MODEL", "No model is set up, so no session was opened.", {
    hint: "Set ANTHROPIC_API_KEY in the environment of teams acp, or start it with --model or --playbook.",
    details: NEEDS_LOGIN,
  });
}

function ledByCli(team: string, cli: string): TeamError {
  return new TeamError(
    "INVALID_INPUT",
    `${team} is led by ${cli}, which a session cannot show; nothing was done.`,
    {
      hint: `Resume it with teams run --resume ${optionWords("--team", team)}`,
    },
  );
}
