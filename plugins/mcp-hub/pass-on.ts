import type { JsonSchemaType, JsonSchemaValidator } from "@modelcontextprotocol/client";

/**
 * The SDKs' check of content against a JSON Schema, which never refuses: the hub passes on what each side sent, and the side
 * that asked for it checks it. Without this the SDKs make an Ajv for each of their objects, in the newer protocol for each request.
 */
export const passOn = {
  getValidator<T>(_: JsonSchemaType): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  },
};
