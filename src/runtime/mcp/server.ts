import type { McpServerFactory, Server, ServerContext } from "@modelcontextprotocol/server";
import type { ClientCall, ClientToolContext } from "../../team-tools/mcp/client-tool.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { askerOf } from "./forms.ts";
import { isPersonsRequest } from "./http-peer.ts";
import { instructionsFor, promptOf, promptsOf } from "./prompts.ts";
import { ResourceWatch } from "./resource-watch.ts";
import { readable, TeamResources } from "./resources.ts";
import { Subscriptions } from "./subscriptions.ts";
import { ToolCalls } from "./tool-calls.ts";

/** The connection name of the client on the standard streams. */
const STREAMS = "streams";
/** The connection name of all HTTP clients without a session. */
const STATELESS = "stateless";

/** The servers of one member: one for each connection or request. All of them share the member's state. */
export interface MemberServers {
  readonly factory: McpServerFactory;
  readonly context: ClientToolContext;
  /** The changes of the member's resources. */
  readonly watch: ResourceWatch;
  /** Call when a client on the standard streams asks for changes: the package then selects the changes that it wants. */
  onListen(): void;
  /** Ends its watches, and lets the next process return the messages that have not arrived. */
  close(): Promise<void>;
}

/**
 * Loads the server package, and returns the servers of a member.
 * @param onProblem called with a problem that a person should know; the client gets an answer in any case
 */
export async function memberServers(
  context: ClientToolContext,
  version: string,
  onProblem: (text: string) => void,
): Promise<MemberServers> {
  const sdk = await import("@modelcontextprotocol/server");
  const calls = new ToolCalls(sdk, context, onProblem);
  const resources = new TeamResources(context);
  const watch = new ResourceWatch(context.ctx.ref, resources, onProblem);
  const isPersons = (request: Request): boolean => isPersonsRequest(context.ctx.home.root, request);
  const info = { name: "teams", title: "teams", version };
  let streamServer: Server | undefined;
  let isListening = false;
  const factory: McpServerFactory = ({ era, requestInfo }) => {
    const server = new sdk.Server(info, {
      capabilities: { tools: {}, resources: { subscribe: true }, prompts: {} },
      instructions: instructionsFor(context),
    });
    server.setRequestHandler("tools/list", () => ({ tools: calls.list }));
    server.setRequestHandler("tools/call", async ({ params }, ctx) => {
      const tool = calls.find(params.name);
      if (tool === undefined) throw unknownName("tool", params.name, "The tools", calls.list);
      return calls.run(tool, params.arguments ?? {}, clientCall(ctx));
    });
    server.setRequestHandler("resources/list", () => readable(sdk, () => ({ resources: resources.list() })));
    server.setRequestHandler("resources/templates/list", () => ({
      resourceTemplates: resources.templates(),
    }));
    server.setRequestHandler("resources/read", ({ params: { uri } }) =>
      readable(sdk, async () => {
        const contents = await resources.read(uri);
        if (contents === undefined) throw new sdk.ResourceNotFoundError(plainName(uri));
        return { contents: [contents] };
      }),
    );
    server.setRequestHandler("prompts/list", () => ({ prompts: promptsOf(context) }));
    server.setRequestHandler("prompts/get", ({ params }) => {
      const prompt = promptOf(context, params.name, params.arguments ?? {});
      if (prompt === undefined) throw unknownName("prompt", params.name, "The prompts", promptsOf(context));
      if ("missing" in prompt)
        throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, prompt.missing);
      return prompt;
    });
    if (era === "legacy") new Subscriptions(sdk, server, resources, watch).serve();
    else if (requestInfo === undefined) streamServer = server;
    return server;

    function clientCall(ctx: ServerContext): ClientCall {
      const { mcpReq, sessionId, http } = ctx;
      const token = mcpReq._meta?.progressToken;
      let progress = 0;
      return {
        signal: mcpReq.signal,
        client: sessionId ?? (http?.req === undefined ? STREAMS : STATELESS),
        lost: http?.req?.signal,
        ask: askerOf(sdk, server, ctx, { era, isPersons }),
        progress: (message) => {
          if (token === undefined || mcpReq.signal.aborted) return;
          progress += 1;
          const params = { progressToken: token, progress, message };
          // A client that has gone needs no progress; its call ends by the signal.
          void mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
        },
      };
    }
  };

  function unknownName(
    kind: string,
    name: string,
    title: string,
    known: readonly { readonly name: string }[],
  ): Error {
    const names = known.map((one) => one.name).join(", ");
    return new sdk.ProtocolError(
      sdk.ProtocolErrorCode.InvalidParams,
      `There is no ${kind} ${JSON.stringify(plainName(name))}. ${title}: ${names}`,
    );
  }

  return {
    factory,
    context,
    watch,
    onListen: () => {
      if (isListening) return;
      isListening = true;
      watch.subscribe((uri) => {
        // The connection may end at the same moment.
        void streamServer?.sendResourceUpdated({ uri }).catch(() => undefined);
      });
    },
    close: async () => {
      watch.close();
      await context.mail.close();
    },
  };
}

/** Returns a client's text in a form that an error can repeat. */
function plainName(text: string): string {
  return shortened(stripControls(text), 100);
}
