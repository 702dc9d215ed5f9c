import type { OperationContext } from "../operations/context.ts";
import type { Gate } from "../operations/landing/gate.ts";
import { withoutModelCredentials } from "../os/redact.ts";
import { readMetadata } from "../schema/member-metadata.ts";
import type { LoadedSettings } from "../settings/settings.ts";
import { lazySandbox } from "./agent/agent-sandbox.ts";

/**
 * Returns the check that runs before work lands; undefined if none is set. It runs code that agents wrote, so it runs in the sandbox
 * of each agent's commands, without the credentials of the model.
 * @param verify by default `teams.verify` of the settings
 * @param note receives remarks about the sandbox
 */
export function landingGate(
  ctx: Pick<OperationContext, "home" | "ref" | "env">,
  settings: LoadedSettings,
  verify: string | undefined,
  note: (text: string) => void,
): Gate | undefined {
  const command = verify ?? settings.teams.verify;
  if (command === undefined) return undefined;
  const { home, ref } = ctx;
  const env = { ...ctx.env, ...settings.env };
  return {
    command,
    env: withoutModelCredentials(env, settings.teams.passSecrets),
    sandboxOf: ({ agent, member, directory }) =>
      lazySandbox(
        {
          ctx: { home, ref, cwd: directory, env },
          name: agent,
          settings: () => settings,
          mode: member && readMetadata(member, "sandbox"),
          addDirs: undefined,
        },
        note,
      ),
  };
}
