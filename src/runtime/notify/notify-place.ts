import type { Env } from "../../os/env.ts";
import { withoutModelCredentials } from "../../os/redact.ts";
import type { LiveSettings } from "../../settings/live-settings.ts";
import type { TeamRef } from "../../team/ref.ts";

/** Where a program of `teams.notify` runs, and for whom. */
export interface NotifyPlace {
  readonly settings: LiveSettings;
  readonly ref: TeamRef;
  /** The agent that waits, or whose lead does. */
  readonly agent: string;
  readonly cwd: string;
  readonly env: Env;
}

/** Returns the environment of a program of `teams.notify`. */
export function notifyEnv({ settings, ref, env }: NotifyPlace): Env {
  const { env: settingsEnv, teams } = settings();
  const all = { ...env, ...settingsEnv };
  return { ...withoutModelCredentials(all, teams.passSecrets), TEAMS_TEAM: ref.team };
}
