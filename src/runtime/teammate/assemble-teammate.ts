import type { Adapter } from "../../adapter/adapter-schema.ts";
import { adoptedAdapter, findAdapter } from "../../adapter/adapters.ts";
import { denialsFor } from "../../adapter/request-shapes.ts";
import type { Agent } from "../../agent/agent.ts";
import { SCRIPTED } from "../../agent/model/model-names.ts";
import { agentTypeOrGeneral } from "../../agent/prompts/agent-types.ts";
import { snapshotOf } from "../../launch/shell-snapshot.ts";
import { createSocketDirectory, type SocketDirectory } from "../../os/net/local-server.ts";
import type { TeamMember } from "../../schema/config.ts";
import { hasMetadata, readMetadata, typesDirectory } from "../../schema/member-metadata.ts";
import { ignoredLines, type LoadedSettings } from "../../settings/settings.ts";
import { agreeToShutdown } from "../../team-tools/send-message.ts";
import type { AnyCall } from "../../terminal/call.ts";
import type { Worker } from "../../worker/worker.ts";
import { openAgentResources } from "../agent/agent-resources.ts";
import { openAgentSandbox } from "../agent/agent-sandbox.ts";
import { assembleAgent } from "../agent/assemble-agent.ts";
import { openAgentType } from "../agent/load-agent-types.ts";
import { modelsOf } from "../agent/models.ts";
import { filesContext, operationContext } from "../operation-context.ts";
import { assembleCli } from "./assemble-cli.ts";
import { type RunningTeammate, settingsOf } from "./running-teammate.ts";

/** Creates the agent of a teammate, or starts the third-party CLI that runs instead. */
export async function assembleTeammate(call: AnyCall, self: RunningTeammate, worker: Worker): Promise<Agent> {
  const { io, flags, ref, config, member } = self;
  const live = await settingsOf(self);
  const settings = live();
  for (const line of ignoredLines(settings)) self.view.note(line);
  const open = { home: ref.home, ref, config, actor: member.name };
  const ctx = await operationContext(call, open, settings);
  const note = (line: string): void => self.view.note(line);
  const { disallowedTools: denied } = flags;
  const { typeDenials, ...own } = await openAgentType(
    {
      ...{ name: flags.agentType, root: ref.home.root, cwd: io.cwd, env: ctx.env },
      directory: typesDirectory(member, io.cwd),
      ...{ rules: settings.permissions, denied },
    },
    note,
  );
  const { addDirs } = flags;
  const cli = cliOf(member, settings);
  const { tools } = agentTypeOrGeneral(flags.agentType, own.types);
  const denials = [...typeDenials, ...(cli === undefined ? [] : denialsFor(tools)), ...(denied ?? [])];
  // A program that a person started runs outside the sandbox.
  const isOutside = readMetadata(member, "adopted") !== undefined;
  const openSandbox = isOutside ? async () => undefined : openAgentSandbox;
  const sandbox = await openSandbox(
    {
      ...{ ctx, name: member.name, settings: live, mode: readMetadata(member, "sandbox"), addDirs, denials },
      sessionId: self.sessionId,
      cli: cli && {
        login: cli.login.paths,
        hosts: cli.hosts,
        socket: cli.socket.directory,
        program: ctx.program,
      },
    },
    note,
  );
  if (cli !== undefined) {
    // Closed after the CLI that runs in it.
    if (sandbox !== undefined) self.ends.push(sandbox.close);
    const { sessionId, signal } = self;
    const parts = {
      ctx,
      worker,
      flags,
      sessionId,
      settings: live,
      type: own,
      denials,
      sandbox,
      signal,
      note,
    };
    return assembleCli(cli, { ...parts, socket: cli.socket, ends: self.ends });
  }
  const resources = await openAgentResources(ctx, settings, denials, note, { sandbox });
  self.ends.push(resources.close);
  // Closed after the servers that run in it.
  if (sandbox !== undefined) self.ends.push(sandbox.close);
  const modelFor = modelsOf(flags.model ?? SCRIPTED, ctx, live, { worker, note, sandbox });
  return assembleAgent({
    ctx,
    worker,
    role: "teammate",
    model: await modelFor(member.name, undefined),
    modelFor,
    resources,
    sandbox,
    agentType: flags.agentType,
    ...own,
    promptOverrides: readMetadata(member, "promptOverrides") ?? {},
    sessionId: self.sessionId,
    settings: live,
    spawn: {},
    isUnattended: !io.terminal.stdin,
    allowedTools: flags.allowedTools,
    disallowedTools: flags.disallowedTools,
    tools: flags.tools,
    addDirs,
    // If the patterns cannot be read, no file may be written.
    writes: hasMetadata(member, "writes") ? (readMetadata(member, "writes") ?? []) : undefined,
    snapshot: snapshotOf(io.env),
    signal: self.signal,
  });
}

/** Agrees to a shutdown in place of an agent that cannot, or that left the request unanswered. */
export async function agreeInPlace(
  call: AnyCall,
  { ref, config, member }: RunningTeammate,
  worker: Worker,
  requestId: string,
): Promise<void> {
  const ctx = filesContext(call, { home: ref.home, ref, config, actor: member.name });
  await agreeToShutdown(ctx, worker, requestId);
}

function cliOf(
  member: TeamMember,
  { teams }: LoadedSettings,
): (Adapter & { readonly socket: SocketDirectory }) | undefined {
  const cli = readMetadata(member, "cli");
  if (cli === undefined) return undefined;
  const adopted = readMetadata(member, "adopted");
  const adapter =
    adopted === undefined ? findAdapter(cli, teams.adapters) : adoptedAdapter(cli, teams.adapters);
  return { ...adapter, socket: createSocketDirectory() };
}
