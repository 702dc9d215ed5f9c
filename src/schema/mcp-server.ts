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

/** One server of tools: a program that speaks over its standard streams, or an address. */
export const mcpServer = z.union([stdioServer, httpServer]);
export type McpServer = z.infer<typeof mcpServer>;

/** `.mcp.json`, and the same key in settings; each server is looked at by itself, so that a wrong one hides no other. */
export const mcpFile = z.looseObject({ mcpServers: z._default(z.record(z.string(), z.unknown()), {}) });
