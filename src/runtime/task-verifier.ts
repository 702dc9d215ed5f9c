import type { VerifyOptions } from "../operations/verify/verify-task.ts";
import { systemClock } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { readMetadata } from "../schema/member-metadata.ts";
import { agentId, agentName, LEAD_NAME } from "../schema/names.ts";
import type { Task } from "../schema/task.ts";
import { readTeam } from "../team/config/config.ts";
import { lookUpMember } from "../team/members/members.ts";
import type { TeamRef } from "../team/ref.ts";
import { needsVerify } from "../team/tasks/verify-record.ts";

export interface VerifierOptions extends Pick<VerifyOptions, "actor" | "patienceMs"> {
  readonly ref: TeamRef;
  readonly env: Env;
  /** Receives a line for a person. */
  readonly note: (line: string) => void;
}

/**
 * Returns the function that proves a task before its completion. A command runs with the directory, the settings, the sandbox
 * and the deny rules of the task's owner, whichever process completes the task. Its modules are loaded for the first
 * task with a confirmed command.
 */
export function taskVerifier(options: VerifierOptions): (task: Task, signal: AbortSignal) => Promise<void> {
  const { ref, actor, patienceMs } = options;
  return async (task, signal) => {
    if (!needsVerify(ref, task)) return;
    const { verifyTask } = await import("../operations/verify/verify-task.ts");
    const placeOf = (owner: string): ReturnType<VerifyOptions["placeOf"]> => placeOfOwner(owner, options);
    await verifyTask(task, { ref, actor, placeOf, signal, clock: systemClock, patienceMs });
  };
}

async function placeOfOwner(
  owner: string,
  { ref, env: inherited, note }: VerifierOptions,
): ReturnType<VerifyOptions["placeOf"]> {
  const [{ loadSettings }, { lazySandbox }] = await Promise.all([
    import("../settings/settings.ts"),
    import("./agent/agent-sandbox.ts"),
  ]);
  const { home } = ref;
  const config = readTeam(ref);
  // A former member's work is verified where the lead is.
  const member = lookUpMember(config, owner) ?? lookUpMember(config, LEAD_NAME) ?? config.members[0];
  const cwd = member?.cwd || "/";
  const settings = loadSettings(home.root, cwd);
  const name = member?.name ?? LEAD_NAME;
  // The command acts as its owner: `teams` in it must not count as a person.
  const env = { ...inherited, ...settings.env, TEAMS_AGENT: agentId(agentName(name), ref.team) };
  const denials = [...(member?.disallowedTools ?? [])];
  const sandbox = lazySandbox(
    {
      ctx: { home, ref, cwd, env },
      ...{ name, denials, addDirs: undefined },
      settings: () => settings,
      mode: member && readMetadata(member, "sandbox"),
    },
    note,
  );
  return {
    ...{ cwd, env, sandbox },
    passSecrets: settings.teams.passSecrets,
    deny: [...settings.permissions.deny, ...denials],
  };
}
