// The types of the functions of libxml2 that LectureXML looks up. Written out, and not taken from libxml2's headers:
// these need a search path, which pkg-config only gives together with `-lxml2`, and the library is opened with the first
// document. XMLDeclarationTests has the compiler compare every line with the headers.
#ifndef CXML2_SHIM_H
#define CXML2_SHIM_H

struct _xmlTextReader;
struct _xmlError;

typedef void (*cxml2_error_handler)(void *context, struct _xmlError *error);

typedef void (*cxml2_xmlInitParser)(void);
typedef cxml2_error_handler *(*cxml2___xmlStructuredError)(void);
typedef struct _xmlTextReader *(*cxml2_xmlReaderForMemory)(
    const char *buffer, int size, const char *url, const char *encoding, int options);
typedef int (*cxml2_xmlTextReaderRead)(struct _xmlTextReader *reader);
typedef int (*cxml2_xmlTextReaderNodeType)(struct _xmlTextReader *reader);
typedef int (*cxml2_xmlTextReaderIsEmptyElement)(struct _xmlTextReader *reader);
typedef int (*cxml2_xmlTextReaderIsNamespaceDecl)(struct _xmlTextReader *reader);
typedef int (*cxml2_xmlTextReaderMoveToNextAttribute)(struct _xmlTextReader *reader);
typedef int (*cxml2_xmlTextReaderMoveToElement)(struct _xmlTextReader *reader);
typedef int (*cxml2_xmlTextReaderGetParserLineNumber)(struct _xmlTextReader *reader);
typedef const unsigned char *(*cxml2_xmlTextReaderConstLocalName)(struct _xmlTextReader *reader);
typedef const unsigned char *(*cxml2_xmlTextReaderConstNamespaceUri)(struct _xmlTextReader *reader);
typedef const unsigned char *(*cxml2_xmlTextReaderConstValue)(struct _xmlTextReader *reader);
typedef void (*cxml2_xmlFreeTextReader)(struct _xmlTextReader *reader);

#endif
