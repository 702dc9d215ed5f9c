import { outputDirectory } from "../../agent/background/output-file.ts";
import { protectedDirectories } from "../../agent/permissions/protected-paths.ts";
import type { AgentPermissions } from "../../agent/turn/permission.ts";
import { leadEnvironment } from "../../launch/agent-environment.ts";
import type { Env } from "../../os/env.ts";
import { INSTANCE_VARIABLE } from "../../os/process/process-tree.ts";
import { agentId, agentName } from "../../schema/names.ts";
import { bypassForbiddenBy } from "../../settings/settings.ts";
import { reservedReason } from "../../team/tasks/reserved-files.ts";
import { workingDirectories } from "./agent-sandbox.ts";
import { RECORDING_VARIABLE } from "./recording.ts";
import type { SharedParts } from "./subagents.ts";

/** The parts of an agent that its environment and its rights depend on. */
export interface RightsParts
  extends Pick<SharedParts, "ctx" | "worker" | "sessionId" | "settings" | "resources"> {
  readonly role: "teammate" | "lead";
  readonly allowedTools?: readonly string[] | undefined;
  readonly addDirs?: readonly string[] | undefined;
  readonly writes?: readonly string[] | undefined;
}

/** Returns the environment of an agent's commands, and of a CLI that runs instead of the agent. */
export function agentEnv({ ctx, worker, role, sessionId }: RightsParts): Env {
  const {
    TEAMS_BELL_FD: _fd,
    TEAMS_RESULT: _result,
    // This variable would switch off the agent's hooks of one event.
    TEAMS_HOOK: _hook,
    [RECORDING_VARIABLE]: _recording,
    ...inherited
  } = ctx.env;
  return {
    ...(role === "lead" ? leadEnvironment(inherited) : inherited),
    // A getter: a lead's team may be renamed.
    get TEAMS_AGENT() {
      return agentId(agentName(worker.name), ctx.ref.team);
    },
    // Marks the processes that a killed lead leaves behind. A teammate already has the marker of its start.
    ...(role === "lead" ? { [INSTANCE_VARIABLE]: sessionId } : {}),
  };
}

/** Returns the rights of an agent, which follow the current mode and settings. @param denials its own deny rules */
export function agentPermissions(parts: RightsParts, denials: readonly string[]): AgentPermissions {
  const { ctx, worker, settings, role } = parts;
  worker.planApproval.restrictModes((mode) =>
    mode === "bypassPermissions" ? bypassForbiddenBy(settings(), ctx.env) : undefined,
  );
  return {
    mode: () => worker.planApproval.mode,
    rules: () => ({
      allow: [
        ...settings().permissions.allow,
        ...(parts.allowedTools ?? []),
        ...worker.permissionRequests.sessionRules,
      ],
      ask: settings().permissions.ask,
      deny: [...settings().permissions.deny, ...denials],
    }),
    workingDirs: () => workingDirectories(parts),
    readDirs: [outputDirectory(ctx.cwd), ...(parts.resources?.readDirs ?? [])],
    planFile: worker.planApproval.planFile,
    writes: parts.writes,
    protectedDirs: protectedDirectories(ctx.home.root),
    coordinator: role === "lead",
    reservedBy: (path) => reservedReason(ctx.ref, worker.name, path),
    ask: (request, signal) => worker.permissionRequests.ask(request, signal),
  };
}
