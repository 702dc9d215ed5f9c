import * as z from "zod/mini";

const texts = z.record(z.string(), z.coerce.string());

const stdioServer = z.looseObject({
  type: z.optional(z.literal("stdio")),
  command: z.string().check(z.minLength(1)),
  args: z._default(z.array(z.coerce.string()), []),
  env: z._default(texts, {}),
});

const httpServer = z.looseObject({
  type: z.enum(["http", "streamable-http"]),
  url: z.string().check(z.minLength(1)),
  headers: z._default(texts, {}),
});

/** One MCP server: a program that communicates over its standard streams, or a URL. */
export const mcpServer = z.union([stdioServer, httpServer]);
export type McpServer = z.infer<typeof mcpServer>;

/** `.mcp.json`, and the same key in settings. Each server is parsed separately, so that an invalid one hides no other. */
export const mcpFile = z.looseObject({ mcpServers: z._default(z.record(z.string(), z.unknown()), {}) });
